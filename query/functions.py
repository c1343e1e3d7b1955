"""The functions of the language: ours, and DuckDB's that are let through, by family.

A function is here because it reads nothing but its arguments and cannot run away. Those
whose work grows with an argument (`repeat`, `range` ...) are bounded in `growth`.
"""

from __future__ import annotations

from sqlglot import exp

LAZY_CALLS: dict[str, str] = {
    "similarity": "similarity(image | caption, 'text' | $picture)",
    "matches": "matches(caption | image, 'text')",
    "describe": "describe(image, 'prompt')",
    "caption_status": "caption_status(caption)",
    "bm25": "bm25(text | label | caption | ocr_text | speech_text, 'words')",
}
# The columns that each of them takes, by relation.
Takes = dict[str, tuple[str, ...]]
PICTURES: Takes = {"scenes": ("image",), "frames": ("image",)}
CAPTIONED: Takes = {"scenes": ("caption",), "frames": ("caption",)}
EITHER: Takes = {"scenes": ("image", "caption"), "frames": ("image", "caption")}
TAKES: dict[str, Takes] = {
    "similarity": EITHER,
    "matches": EITHER,
    "describe": PICTURES,
    "caption_status": CAPTIONED,
    "bm25": {
        "scenes": ("caption", "ocr_text", "speech_text"),
        "frames": ("caption",),
        "captions": ("text",),
        "ocr": ("text",),
        "speech": ("text",),
        "objects": ("label",),
        "actions": ("label",),
    },
}
SPAN_CALLS: dict[str, str] = {
    "before": "before(a, b)",
    "after": "after(a, b)",
    "overlaps": "overlaps(a, b)",
    "during": "during(a, b)",
    "within": "within(a, b, seconds)",
}

_DUCKDB = """
count sum avg mean min max median mode stddev stddev_pop stddev_samp var_pop var_samp variance
any_value first last arbitrary list array_agg string_agg group_concat listagg arg_max arg_min
max_by min_by bool_or bool_and count_if countif quantile_cont quantile_disc quantile
approx_distinct approx_count_distinct approx_quantile corr covar_pop covar_samp product kurtosis
skewness entropy histogram bit_and bit_or bit_xor fsum favg
row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value
abs ceil ceiling floor round trunc sqrt cbrt exp ln log log2 log10 pow power sign mod greatest
least sin cos tan asin acos atan atan2 cot degrees radians pi isnan isinf isfinite even gcd lcm
divide fmod add subtract multiply
length len char_length character_length strlen lower lcase upper ucase trim ltrim rtrim
substring substr left right concat concat_ws contains starts_with ends_with prefix suffix
position strpos instr reverse replace translate regexp_matches regexp_full_match regexp_extract
regexp_extract_all regexp_replace regexp_split_to_array split string_split str_split
string_to_array split_part ascii chr unicode ord levenshtein editdist3 hamming jaccard
jaro_similarity jaro_winkler_similarity strip_accents md5 hash nfc_normalize
hex to_base64
list_value list_pack array_length list_contains array_contains list_has list_position
list_indexof list_extract list_element list_sort list_reverse_sort list_distinct list_unique
list_reverse list_slice array_slice list_transform list_apply array_transform list_filter
array_filter list_sum list_avg list_min list_max list_concat list_append list_prepend
list_any_value list_has_any list_has_all list_intersect flatten array_to_string list_first
list_last struct_pack struct_extract row map_keys map_values map_entries element_at cardinality
map_extract map_contains array_position unnest
coalesce ifnull nullif if typeof
date_trunc date_part datepart date_diff datediff date_sub date_add strftime strptime epoch
epoch_ms year month day hour minute second dayofweek weekday dayofyear week quarter dayname
monthname last_day make_date make_timestamp to_timestamp to_seconds to_minutes to_hours to_days
now today current_timestamp current_date time_bucket extract
json_extract json_extract_string json_array_length json_keys json_type json_valid
repeat lpad rpad range generate_series printf format
"""
NAMES = frozenset(_DUCKDB.split())
IN_FROM = frozenset({"select_frames"})
ALL_NAMES = NAMES | set(LAZY_CALLS) | set(SPAN_CALLS) | IN_FROM

# The classes into which sqlglot reads those names where the class is not called like the name.
_CLASSES = """
ArrayAgg GroupConcat PercentileCont PercentileDisc BitwiseAndAgg BitwiseOrAgg BitwiseXorAgg Log
Trim StrPosition RegexpLike Split Levenshtein JarowinklerSimilarity Array ArrayContains ArraySort
ArrayDistinct Transform ArrayFilter ArrayMin ArrayMax ArrayConcat ArrayAppend ArrayPrepend
ArrayOverlaps Struct Explode TimestampTrunc TimeToStr StrToTime TimeToUnix UnixToTime
DateFromParts TimestampFromParts CurrentDate CurrentTimestamp DateBin JSONExtractScalar
JSONExtract Pad GenerateSeries Cast TryCast Case And Or Xor Map ToMap VarMap ArrayOverlaps
ArrayContainsAll LogicalOr LogicalAnd Exists Any Filter WithinGroup IgnoreNulls RespectNulls
"""
CLASSES = frozenset(_CLASSES.split())


def name_of(call: exp.Expr) -> str:
    """The name of a function call, in lower case."""
    if isinstance(call, exp.Anonymous):
        return str(call.name).lower()
    return str(call.sql_names()[0]).lower() if isinstance(call, exp.Func) else ""


def is_available(call: exp.Func) -> bool:
    if isinstance(call, exp.Anonymous):
        return name_of(call) in ALL_NAMES
    if type(call).__name__ in CLASSES:
        return True
    return any(str(n).lower() in NAMES for n in call.sql_names())


def is_lazy_call(node: exp.Expr | None) -> bool:
    return isinstance(node, exp.Anonymous) and name_of(node) in LAZY_CALLS


def is_span_call(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and name_of(node) in SPAN_CALLS


# Aggregates that sqlglot has no class for.
_AGGREGATES = """
mean arbitrary entropy favg fsum histogram product kurtosis bit_and bit_or bit_xor stddev_pop
stddev_samp var_samp covar_pop covar_samp approx_quantile listagg mode any_value countif count_if
"""
AGGREGATES = frozenset(_AGGREGATES.split())


def is_aggregate(node: exp.Expr) -> bool:
    if isinstance(node, exp.Anonymous):
        return name_of(node) in AGGREGATES
    return isinstance(node, exp.AggFunc)
