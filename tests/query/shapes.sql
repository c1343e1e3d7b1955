select list after cheap filter|SELECT video, start_s, caption FROM scenes WHERE video='v3.mp4' AND start_s<50
qualified name|SELECT scene_no, caption FROM "v3.mp4".scenes WHERE start_s<50
predicate on lazy column|SELECT video, scene_no FROM scenes WHERE caption LIKE '%dog%' AND scene_no<4
cheap AND lazy pred|SELECT scene_no FROM scenes WHERE matches(caption,'falls') AND video='v4.mp4'
two lazy preds AND|SELECT video, scene_no FROM scenes WHERE matches(image,'red') AND matches(caption,'falls') AND video<'v4'
OR cheap shields|SELECT video, scene_no FROM scenes WHERE scene_no>=5 OR matches(caption,'falls')
NOT lazy|SELECT scene_no FROM scenes WHERE NOT matches(caption,'falls') AND video='v1.mp4'
NOT (a OR lazy)|SELECT video, scene_no FROM scenes WHERE NOT (start_s<70 OR matches(caption,'falls'))
NOT (a AND lazy)|SELECT video, scene_no FROM scenes WHERE NOT (start_s<70 AND matches(caption,'falls')) AND scene_no<9
lazy IS NULL|SELECT video, scene_no FROM scenes WHERE caption IS NULL AND scene_no<6
lazy IS NOT DISTINCT FROM|SELECT video, scene_no FROM scenes WHERE matches(caption,'common') IS NOT DISTINCT FROM NULL AND scene_no<3
inner join, lazy each side|SELECT s.video, s.scene_no, p.line_no FROM scenes s JOIN speech p ON overlaps(s,p) WHERE p.text LIKE 'milk%' AND matches(s.caption,'falls')
lazy in inner join ON|SELECT s.video, s.scene_no, p.line_no FROM scenes s JOIN speech p ON overlaps(s,p) AND matches(s.caption,'falls') WHERE p.text LIKE 'milk%'
self join, before|SELECT a.video, a.scene_no, b.scene_no n FROM scenes a JOIN scenes b ON before(a,b) WHERE a.video='v2.mp4' AND matches(a.caption,'falls') AND matches(b.caption,'red') AND b.start_s-a.end_s<20
LEFT JOIN lazy in ON|SELECT v.video, s.scene_no FROM videos v LEFT JOIN scenes s ON s.video_id=v.video_id AND s.start_s<30 AND matches(s.caption,'falls')
LEFT JOIN lazy ON + preserved filter|SELECT v.video, s.scene_no FROM videos v LEFT JOIN scenes s ON s.video_id=v.video_id AND matches(s.caption,'falls') WHERE v.duration_s<130
LEFT JOIN lazy in WHERE|SELECT v.video, s.scene_no FROM videos v LEFT JOIN scenes s ON s.video_id=v.video_id AND s.start_s<30 WHERE matches(s.caption,'falls') OR s.scene_no IS NULL
anti join via LEFT JOIN|SELECT v.video FROM videos v LEFT JOIN scenes s ON s.video_id=v.video_id AND matches(s.caption,'falls') WHERE s.scene_no IS NULL AND v.video<'v6'
LEFT JOIN, LIMIT, made-up rows|SELECT v.video, v.duration_s, s.caption FROM videos v LEFT JOIN scenes s ON s.video_id=v.video_id AND s.scene_no=v.duration_s/20 AND v.has_audio ORDER BY v.video, s.scene_no LIMIT 7
FULL JOIN lazy ON|SELECT s.video, s.scene_no, p.line_no FROM scenes s FULL JOIN speech p ON s.video_id=p.video_id AND s.start_s+2=p.start_s AND matches(s.caption,'common') WHERE coalesce(s.video,p.video)<'v5'
RIGHT JOIN lazy select|SELECT p.video, p.line_no, s.caption FROM scenes s RIGHT JOIN speech p ON s.video_id=p.video_id AND s.start_s+2=p.start_s AND s.scene_no<4
EXISTS correlated|SELECT v.video FROM videos v WHERE v.duration_s<150 AND EXISTS (SELECT * FROM scenes s WHERE s.video_id=v.video_id AND s.start_s<60 AND matches(s.caption,'falls'))
NOT EXISTS correlated|SELECT v.video FROM videos v WHERE v.duration_s<150 AND NOT EXISTS (SELECT * FROM scenes s WHERE s.video_id=v.video_id AND s.start_s<60 AND matches(s.caption,'falls'))
EXISTS or cheap|SELECT v.video FROM videos v WHERE v.has_audio OR EXISTS (SELECT 1 FROM scenes s WHERE s.video_id=v.video_id AND s.start_s<40 AND matches(s.caption,'falls'))
IN subquery|SELECT video, line_no FROM speech WHERE text LIKE 'milk%' AND video_id IN (SELECT video_id FROM scenes WHERE start_s<20 AND matches(caption,'falls'))
NOT IN subquery|SELECT video, line_no FROM speech WHERE text LIKE 'milk%' AND video_id NOT IN (SELECT video_id FROM scenes WHERE start_s<20 AND matches(caption,'falls'))
IN subquery of lazy column|SELECT scene_no FROM scenes WHERE video='v1.mp4' AND caption IN (SELECT caption FROM frames WHERE t_s<10)
lazy outer column in nested query|SELECT s.video, s.scene_no FROM scenes s WHERE s.scene_no<3 AND EXISTS (SELECT 1 FROM speech p WHERE p.video_id=s.video_id AND contains(s.caption, split_part(p.text,' ',1)))
scalar subquery in select|SELECT v.video, (SELECT count(*) FROM scenes s WHERE s.video_id=v.video_id AND matches(s.caption,'common')) n FROM videos v WHERE v.duration_s<120
scalar subquery + LIMIT|SELECT v.video, (SELECT count(*) FROM scenes s WHERE s.video_id=v.video_id AND matches(s.caption,'common')) n FROM videos v ORDER BY v.video LIMIT 2
scalar subquery in WHERE|SELECT v.video FROM videos v WHERE v.duration_s<150 AND (SELECT count(*) FROM scenes s WHERE s.video_id=v.video_id AND s.start_s<50 AND matches(s.caption,'common'))>=3
GROUP BY count|SELECT video, count(*) FROM scenes WHERE start_s<100 AND matches(caption,'falls') GROUP BY video
aggregate FILTER|SELECT video, count(*) FILTER (WHERE matches(caption,'falls')) n, count(*) m FROM scenes WHERE start_s<30 GROUP BY video
group by lazy|SELECT caption, count(*) FROM scenes WHERE video<'v2' GROUP BY caption
group by lazy expression|SELECT length(caption)>12 long, count(*) n FROM scenes WHERE video<'v2' GROUP BY long
HAVING lazy|SELECT video FROM scenes WHERE start_s<40 GROUP BY video HAVING bool_or(matches(caption,'falls'))
HAVING cheap + lazy|SELECT video FROM scenes GROUP BY video HAVING count(*)>12 AND bool_or(matches(caption,'falls'))
window over lazy|SELECT scene_no, sum(CASE WHEN matches(caption,'falls') THEN 1 ELSE 0 END) OVER (PARTITION BY video ORDER BY start_s) r FROM scenes WHERE video='v2.mp4'
named window|SELECT scene_no, lag(caption) OVER w r FROM scenes WHERE video='v2.mp4' WINDOW w AS (PARTITION BY video ORDER BY start_s)
QUALIFY cheap, lazy select|SELECT video, caption FROM scenes QUALIFY row_number() OVER (PARTITION BY video ORDER BY start_s)=1
QUALIFY after lazy WHERE|SELECT video, scene_no FROM scenes WHERE matches(caption,'falls') AND scene_no<6 QUALIFY row_number() OVER (PARTITION BY video ORDER BY start_s)=1
QUALIFY lazy beside window|SELECT video, scene_no FROM scenes WHERE scene_no<5 QUALIFY row_number() OVER (PARTITION BY video ORDER BY start_s)<=2 AND matches(caption,'common')
CASE in select|SELECT video, scene_no, CASE WHEN start_s<20 THEN caption WHEN start_s<40 THEN describe(image,'board') ELSE 'late' END c FROM scenes WHERE video<'v4'
CASE lazy condition|SELECT scene_no, CASE WHEN matches(caption,'falls') THEN describe(image,'who') ELSE '-' END c FROM scenes WHERE video='v3.mp4'
if() and coalesce|SELECT video, scene_no, if(scene_no<2, caption, coalesce(CASE WHEN scene_no%2=0 THEN 'even' END, caption)) c FROM scenes WHERE video<'v2'
lateral alias|SELECT scene_no, caption c, length(c) n FROM scenes WHERE video='v5.mp4' AND c LIKE '%e%'
ORDER BY lazy LIMIT|SELECT scene_no, caption FROM scenes WHERE video='v5.mp4' ORDER BY caption, scene_no LIMIT 5
ORDER BY lazy alias|SELECT scene_no, length(caption) n FROM scenes WHERE video='v5.mp4' ORDER BY n, scene_no LIMIT 5
LIMIT no order, lazy select|SELECT video, scene_no, caption FROM scenes LIMIT 5
LIMIT no order, lazy pred|SELECT video, scene_no FROM scenes WHERE matches(caption,'falls') LIMIT 5
LIMIT order cheap, lazy pred|SELECT video, scene_no FROM scenes WHERE matches(caption,'falls') ORDER BY start_s DESC, video, scene_no LIMIT 5
LIMIT order similarity, lazy pred|SELECT video, scene_no FROM scenes WHERE matches(caption,'falls') ORDER BY similarity(image,'a red car') DESC, video, scene_no LIMIT 5
similarity filter and projection|SELECT video, scene_no, similarity(image,'dog') d FROM scenes WHERE similarity(image,'dog')>0.1 AND matches(caption,'common')
LIMIT OFFSET, two lazy preds|SELECT video, scene_no, caption FROM scenes WHERE matches(image,'common') AND matches(caption,'common') ORDER BY start_s, video LIMIT 3 OFFSET 2
LIMIT, OR with cheap|SELECT video, scene_no FROM scenes WHERE start_s=10 OR matches(caption,'falls') ORDER BY start_s, video LIMIT 8
LIMIT over join|SELECT s.video, s.scene_no, p.line_no FROM scenes s JOIN speech p ON overlaps(s,p) WHERE matches(s.caption,'common') ORDER BY s.start_s, s.video, p.line_no LIMIT 5
LIMIT over join, lazy on both|SELECT s.video, s.scene_no, f.t_s FROM scenes s JOIN frames f ON f.video_id=s.video_id AND f.scene_no=s.scene_no WHERE matches(s.caption,'common') AND matches(f.caption,'common') ORDER BY s.video DESC, s.scene_no, f.t_s LIMIT 6
LIMIT order by lazy, lazy pred|SELECT video, scene_no FROM scenes WHERE matches(caption,'common') AND video<'v2' ORDER BY caption, scene_no LIMIT 5
LIMIT with NOT lazy|SELECT video, scene_no FROM scenes WHERE NOT matches(caption,'falls') ORDER BY start_s, video LIMIT 5
LIMIT 0|SELECT video, scene_no FROM scenes WHERE matches(caption,'falls') ORDER BY start_s, video LIMIT 0
derived table pass-through|SELECT video, scene_no FROM (SELECT * FROM scenes WHERE start_s<20) d WHERE matches(d.caption,'common') AND video<'v5'
derived in derived pass-through|SELECT d.scene_no, d.c FROM (SELECT * FROM (SELECT scene_no, start_s, caption c FROM scenes WHERE video<'v3') e ORDER BY start_s, scene_no LIMIT 9) d WHERE d.c LIKE '%e%'
derived LIMIT then lazy|SELECT video, scene_no FROM (SELECT * FROM scenes ORDER BY similarity(image,'car') DESC, video, scene_no LIMIT 20) d WHERE matches(d.caption,'common')
derived lazy then outer filter|SELECT scene_no FROM (SELECT * FROM scenes WHERE matches(caption,'common')) d WHERE d.video='v2.mp4'
derived window then lazy|SELECT video, scene_no, caption FROM (SELECT *, row_number() OVER (PARTITION BY video ORDER BY start_s DESC) n FROM scenes) d WHERE n=1
CTE used twice|WITH c AS (SELECT video, scene_no, start_s, end_s, caption FROM scenes WHERE scene_no<5) SELECT a.video, a.scene_no, b.scene_no m FROM c a JOIN c b ON a.video=b.video AND a.end_s=b.start_s WHERE matches(a.caption,'common') AND matches(b.caption,'falls')
CTE lazy + LIMIT outside|WITH c AS (SELECT video, scene_no, start_s FROM scenes WHERE matches(caption,'common')) SELECT video, scene_no FROM c ORDER BY start_s, video LIMIT 4
CTE named like a relation|WITH scenes AS (SELECT * FROM scenes WHERE scene_no<2) SELECT video, scene_no, caption FROM scenes WHERE video<'v3'
UNION ALL|SELECT video, scene_no FROM scenes WHERE video='v1.mp4' AND matches(caption,'common') UNION ALL SELECT video, frame_no FROM frames WHERE video='v2.mp4' AND t_s<50 AND matches(caption,'common')
UNION distinct lazy values|SELECT caption FROM scenes WHERE video='v1.mp4' UNION SELECT caption FROM frames WHERE video='v1.mp4' AND t_s<30
EXCEPT|SELECT video FROM scenes WHERE start_s<30 EXCEPT SELECT video FROM scenes WHERE start_s<30 AND matches(caption,'common')
INTERSECT in brackets|SELECT video FROM videos INTERSECT (SELECT video FROM scenes WHERE matches(caption,'falls') AND scene_no<2 UNION SELECT video FROM speech WHERE text LIKE 'tea%' AND start_s<20)
UNION with LIMIT|SELECT video, scene_no n FROM scenes WHERE matches(caption,'falls') AND scene_no<3 UNION ALL SELECT video, line_no FROM speech ORDER BY video, n LIMIT 6
DISTINCT lazy|SELECT DISTINCT length(caption) n FROM scenes WHERE video<'v2' ORDER BY n
DISTINCT ON|SELECT DISTINCT ON (video) video, caption FROM scenes ORDER BY video, start_s
count over EXISTS in HAVING|SELECT video FROM speech p GROUP BY video HAVING count(*)>3 AND EXISTS (SELECT 1 FROM scenes s WHERE s.video=p.video AND s.start_s<30 AND matches(s.caption,'falls'))
LATERAL|SELECT v.video, x.scene_no FROM videos v, LATERAL (SELECT scene_no FROM scenes s WHERE s.video_id=v.video_id AND s.start_s<30 AND matches(s.caption,'common') ORDER BY start_s, scene_no LIMIT 1) x WHERE v.duration_s<150
lateral aggregate|SELECT v.video, x.n FROM videos v, (SELECT count(*) n FROM scenes s WHERE s.video_id=v.video_id AND s.start_s<40 AND matches(s.caption,'common')) x WHERE v.duration_s<130
nested EXISTS in EXISTS|SELECT v.video FROM videos v WHERE EXISTS (SELECT 1 FROM speech p WHERE p.video_id=v.video_id AND p.start_s<30 AND EXISTS (SELECT 1 FROM scenes s WHERE overlaps(s,p) AND s.scene_no<3 AND matches(s.caption,'common')))
count star of lazy view|SELECT count(*) FROM (SELECT * FROM scenes) x
semi join|SELECT v.video FROM videos v SEMI JOIN scenes s ON s.video_id=v.video_id AND s.start_s<30 AND matches(s.caption,'falls')
anti join|SELECT v.video FROM videos v ANTI JOIN scenes s ON s.video_id=v.video_id AND s.start_s<30 AND matches(s.caption,'falls')
bool in select (value context)|SELECT video, scene_no, start_s<20 AND matches(caption,'falls') b FROM scenes WHERE video<'v4'
arg_max|SELECT video, arg_max(caption, start_s) FROM scenes WHERE video<'v3' GROUP BY video
list comprehension|SELECT video, [c FOR c IN list(caption ORDER BY start_s) IF c LIKE '%dog%'] FROM scenes WHERE video<'v2' GROUP BY video
lambda|SELECT video, list_filter(list(caption ORDER BY start_s), lambda c: c LIKE '%dog%') FROM scenes WHERE video<'v2' GROUP BY video
unnest of a lazy value|SELECT scene_no, unnest(string_split(caption,' ')) w FROM scenes WHERE video='v1.mp4' AND scene_no<4
unnest in FROM|SELECT s.scene_no, u.w FROM scenes s, unnest(string_split(s.caption,' ')) u(w) WHERE s.video='v1.mp4' AND s.scene_no<4 AND u.w LIKE 'd%'
GROUP BY ALL|SELECT video, scene_no%2 AS odd, max(length(caption)) n FROM scenes WHERE video<'v2' GROUP BY ALL
NATURAL/USING|SELECT v.duration_s, s.scene_no FROM scenes s JOIN videos v USING (video_id) WHERE v.duration_s<120 AND matches(s.caption,'common')
IS TRUE and IS NOT TRUE|SELECT video, scene_no, matches(caption,'common') IS TRUE t FROM scenes WHERE scene_no<3 AND (matches(caption,'falls') IS NOT TRUE OR scene_no=0)
comparison of two lazy values|SELECT s.video, s.scene_no FROM scenes s JOIN frames f ON f.video_id=s.video_id AND f.t_s=s.key_s WHERE s.scene_no<3 AND length(s.caption)<length(f.caption)
lazy in ORDER BY of aggregate|SELECT video, string_agg(caption, '; ' ORDER BY start_s) FROM scenes WHERE scene_no<3 AND video<'v3' GROUP BY video
heavy column|SELECT t_s, thumbnail FROM frames WHERE video='v1.mp4' ORDER BY t_s LIMIT 3
ocr_text|SELECT video, scene_no FROM scenes WHERE ocr_text LIKE '%dog%' AND scene_no<5
ocr rows|SELECT video, t_s, text FROM ocr WHERE t_s<12 AND text LIKE 'd%'
ocr rows by text only|SELECT video, t_s FROM ocr WHERE text='falls' AND video='v3.mp4'
ocr count|SELECT video, count(*) n FROM ocr WHERE t_s<30 GROUP BY video
ocr join scenes|SELECT s.video, s.scene_no, o.text FROM scenes s JOIN ocr o ON o.video_id=s.video_id AND o.t_s>=s.start_s AND o.t_s<s.end_s WHERE s.scene_no=2 AND matches(s.caption,'common')
ocr LEFT JOIN|SELECT f.video, f.t_s, o.text FROM frames f LEFT JOIN ocr o ON o.video_id=f.video_id AND o.t_s=f.t_s AND o.text='dog' WHERE f.t_s<15
ocr FULL JOIN|SELECT p.video, p.line_no, o.text FROM speech p FULL JOIN ocr o ON o.video_id=p.video_id AND o.t_s=p.start_s-2 WHERE coalesce(p.video,o.video)<'v2'
ocr NOT EXISTS|SELECT s.video, s.scene_no FROM scenes s WHERE s.scene_no<3 AND NOT EXISTS (SELECT 1 FROM ocr o WHERE o.video_id=s.video_id AND o.t_s>=s.start_s AND o.t_s<s.end_s AND o.text='dog')
ocr LIMIT|SELECT video, t_s, text FROM ocr WHERE text='dog' ORDER BY t_s, video LIMIT 4
ocr LIMIT no order|SELECT video, t_s, line_no, text FROM ocr LIMIT 7
ocr text IS NULL|SELECT count(*) FROM ocr WHERE t_s<20 AND (text IS NULL OR text='red')
ocr in derived|SELECT d.video, d.text FROM (SELECT * FROM ocr) d WHERE d.t_s<10 AND d.text LIKE 'm%'
ocr union objects|SELECT video, t_s, text w FROM ocr WHERE t_s<10 UNION ALL SELECT video, t_s, label FROM objects WHERE t_s<5
ocr and captions|SELECT o.video, o.t_s FROM ocr o JOIN frames f ON f.video_id=o.video_id AND f.t_s=o.t_s WHERE o.t_s<20 AND o.text='dog' AND matches(f.caption,'common')
speech_text|SELECT video, scene_no FROM scenes WHERE video='v0.mp4' AND caption LIKE '%e%'
deep AND chain|SELECT video, scene_no FROM scenes WHERE scene_no<9 AND scene_no>0 AND start_s>=0 AND end_s<1000 AND video<'v3' AND matches(caption,'common') AND caption LIKE '%e%' AND matches(image,'common')
VALUES join|SELECT s.video, s.scene_no, v.w FROM scenes s JOIN (VALUES ('dog'),('red')) v(w) ON contains(s.caption, v.w) WHERE s.video='v2.mp4'
ocr JOIN after a LEFT JOIN|SELECT s.video, s.scene_no, o.text FROM scenes s LEFT JOIN videos v ON v.video_id=s.video_id JOIN ocr o ON o.video_id=s.video_id AND o.text LIKE '%e%' AND o.t_s=s.key_s WHERE s.scene_no<3 AND v.has_audio
ocr FROM before a LEFT JOIN|SELECT o.video, o.t_s, s.scene_no FROM ocr o LEFT JOIN speech p ON p.video_id=o.video_id AND p.start_s<5 JOIN scenes s ON s.video_id=o.video_id AND s.key_s=o.t_s AND contains(s.video, '1') AND o.text>'d' WHERE o.t_s<20
nearest of one video|SELECT t_s, caption FROM frames WHERE video='v3.mp4' ORDER BY similarity(image,'a red dog') DESC LIMIT 4
nearest of all with offset|SELECT video, scene_no, similarity(image,'milk') s, caption FROM scenes ORDER BY s DESC LIMIT 5 OFFSET 2
nearest under a lazy filter|SELECT video, t_s FROM frames WHERE t_s<60 AND caption LIKE '%e%' ORDER BY similarity(image,'tree') DESC LIMIT 4
nearest beside another similarity|SELECT video, t_s, similarity(image,'dog') d FROM frames WHERE similarity(image,'dog')>0 ORDER BY similarity(image,'tree') DESC LIMIT 4
speech before a time|SELECT video, start_s, end_s, text FROM speech WHERE start_s<20
speech by text|SELECT video, start_s FROM speech WHERE text LIKE '%dog%' AND video='v4.mp4'
speech in a span|SELECT video, start_s, text FROM speech WHERE start_s BETWEEN 26 AND 29 AND end_s>27
speech count|SELECT video, count(*) n, max(end_s) e FROM speech WHERE model<>'subtitle' AND video<'v2' GROUP BY video
speech LIMIT|SELECT video, start_s, text FROM speech WHERE text LIKE '%red%' LIMIT 3
speech ORDER BY start|SELECT start_s, video, text FROM speech WHERE video<'v3' ORDER BY start_s, video LIMIT 5
speech ORDER BY end, last first|SELECT end_s, video FROM speech WHERE video='v1.mp4' ORDER BY end_s DESC LIMIT 4
speech overlaps scenes|SELECT s.video, s.scene_no, p.text FROM scenes s JOIN speech p ON overlaps(s,p) WHERE s.scene_no=3 AND p.text LIKE '%e%'
speech LEFT JOIN|SELECT s.video, s.scene_no, p.text FROM scenes s LEFT JOIN speech p ON overlaps(s,p) AND p.text LIKE '%dog%' WHERE s.scene_no<2
speech first, LEFT JOIN|SELECT p.video, p.start_s, s.scene_no FROM speech p LEFT JOIN scenes s ON overlaps(s,p) AND s.caption LIKE '%e%' WHERE p.start_s<15 AND p.end_s>3
speech NOT EXISTS|SELECT s.video, s.scene_no FROM scenes s WHERE s.scene_no<4 AND NOT EXISTS (SELECT 1 FROM speech p WHERE overlaps(s,p))
speech after speech|SELECT a.video, a.start_s, b.start_s t FROM speech a JOIN speech b ON a.video_id=b.video_id AND a.end_s<=b.start_s AND b.start_s-a.end_s<6 WHERE a.video='v1.mp4' AND a.start_s<40
speech outside the clock|SELECT count(*), min(start_s), max(end_s) FROM speech WHERE video='v4.mp4'
speech in derived|SELECT d.video, d.text FROM (SELECT * FROM speech WHERE start_s<12) d WHERE d.text LIKE '%m%'
speech_text of scenes|SELECT video, scene_no, speech_text FROM scenes WHERE scene_no<4
speech_text in WHERE|SELECT video, scene_no FROM scenes WHERE speech_text LIKE '%dog%' AND caption LIKE '%e%' AND scene_no<5
speech_text LIMIT|SELECT video, scene_no FROM scenes WHERE speech_text LIKE '%red%' LIMIT 4
actions rows|SELECT video, start_s, label FROM actions WHERE start_s<20 AND label LIKE '%d%'
actions of a scene|SELECT s.video, s.scene_no, a.label FROM scenes s JOIN actions a ON a.video_id=s.video_id AND a.start_s=s.start_s WHERE s.scene_no=2 AND matches(s.caption,'common')
actions LIMIT|SELECT video, start_s, label FROM actions WHERE label='dog' LIMIT 3
actions ORDER BY end|SELECT video, end_s, label FROM actions WHERE video<'v3' ORDER BY end_s DESC, video LIMIT 4
actions NOT IN|SELECT video FROM videos WHERE video_id NOT IN (SELECT video_id FROM actions WHERE start_s<30 AND label='milk')
objects rows|SELECT video, t_s, label FROM objects WHERE t_s<12 AND label>'m'
what is said while something is done|SELECT p.video, p.text, a.label FROM speech p JOIN actions a ON overlaps(p,a) WHERE p.start_s<30 AND a.label LIKE '%e%' AND p.video<'v3'
bm25 of a stored relation|SELECT p.video, p.line_no, round(bm25(p.text,'milk tea'),9) b FROM speech p WHERE p.start_s<50 AND p.model='subtitle' ORDER BY b DESC, p.video, p.line_no LIMIT 6
bm25 of captions with LIMIT|SELECT video, scene_no FROM scenes WHERE bm25(caption,'dog')>0 AND matches(caption,'common') LIMIT 4
bm25 ranks captions|SELECT video, scene_no, round(bm25(caption,'dog red'),9) b FROM scenes WHERE video<'v3' ORDER BY b DESC NULLS LAST, video, scene_no LIMIT 5
bm25 of a lazy relation|SELECT o.video, o.t_s, o.line_no FROM ocr o WHERE o.t_s<20 AND bm25(o.text,'dog')>0
bm25 of a lazy relation with LIMIT|SELECT o.video, o.t_s, o.line_no FROM ocr o WHERE NOT (bm25(o.text,'dog milk')=0) ORDER BY o.t_s, o.video, o.line_no LIMIT 5
bm25 of what scenes show, grouped|SELECT video, max(round(bm25(ocr_text,'red car'),9)) b FROM scenes WHERE scene_no<3 GROUP BY video
select_frames and captions|SELECT c.choice_no, f.video, f.t_s, f.caption FROM select_frames('a red car', k=>6, method=>'topk') c JOIN frames f USING (video_id, t_s) ORDER BY c.choice_no
select_frames of one video under a lazy filter|SELECT c.t_s, c.choice_no FROM select_frames('milk', k=>9, method=>'topk', video=>'v3.mp4') c JOIN scenes s ON s.video_id=c.video_id AND s.scene_no=c.scene_no WHERE matches(s.caption,'common') ORDER BY c.choice_no LIMIT 3
select_frames in NOT EXISTS|SELECT s.video, s.scene_no FROM scenes s WHERE s.scene_no<3 AND NOT EXISTS (SELECT 1 FROM select_frames('dog', k=>20, method=>'topk') c WHERE c.video_id=s.video_id AND c.scene_no=s.scene_no) AND matches(s.caption,'common')
select_frames in a CTE used twice|WITH c AS (SELECT * FROM select_frames('tree', k=>12, method=>'topk') x) SELECT a.video, a.t_s, b.t_s u FROM c a JOIN c b ON a.video_id=b.video_id AND a.t_s<b.t_s JOIN frames f ON f.video_id=a.video_id AND f.t_s=a.t_s WHERE f.caption LIKE '%e%'
