"""The words of `mapreduce`: the roles are those of MR. Video (appendix B), the words ours."""

from __future__ import annotations

from reeldb.query.prompts import Prompt
from reeldb.query.prompts.asking import DATA

SPLIT = Prompt(
    "split",
    1,
    "These pictures, numbered from 1 and each after its time, are about ten seconds of a video. "
    "Describe what happens, say whether it is a single scene (one continuous event that a "
    "sentence can sum up), and where not, give the numbers of the pictures at which a new scene "
    "begins. " + DATA,
)
SPLIT_FORM = (
    'Reply with JSON only: {"description": text, "single": true or false, "starts": numbers of '
    "the pictures that begin a new scene, without the first}"
)
SAME_SCENE = Prompt(
    "same_scene",
    1,
    "These two pictures of a video follow each other. Do they belong to one continuous scene? "
    + DATA,
)
SAME_SCENE_FORM = 'Reply with JSON only: {"same": true or false}'
SALIENT = Prompt(
    "salient",
    1,
    "These pictures, numbered from 1, are spread over a longer stretch of a video. List the "
    "characters and objects that matter: a short name of letters, digits and _ (person_a, dog_a), "
    "what they look like so that they can be told apart, and the number of the picture that "
    "shows them best. At most eight; none where nothing stands out. " + DATA,
)
SALIENT_FORM = (
    'Reply with JSON only: {"characters": [{"name": name, "description": text, "picture": '
    "number}, ...]}"
)
DENSE = Prompt(
    "dense",
    1,
    "Caption one scene of a video. The first pictures are a memory of characters and objects, "
    "listed below in the same order; those after it are the scene. First say briefly what "
    "happens; then list the names from the memory that appear; then describe in detail "
    "characters, clothes, actions, feelings, objects, place, text on screen and anything odd. "
    "Write the name of someone from the memory as <name>. Go on from the caption of the scene "
    "before, where there is one. Say nothing that is not shown. " + DATA,
)
DENSE_FORM = 'Reply with JSON only: {"brief": text, "appeared": [names], "detailed": text}'
SAME = Prompt(
    "same_characters",
    1,
    "Two sets of characters and objects from one video, numbered through, each with a picture in "
    "the order of the numbers and a description. Which of the first set are the same individual "
    "or thing as one of the second? Go by the pictures; a name alone says nothing, for names were "
    "given in each part of the video anew. " + DATA,
)
SAME_FORM = (
    'Reply with JSON only: {"same": [{"first": number of set 1, "second": number of set 2, '
    '"better": the one of the two numbers whose picture shows it better}, ...]}'
)
INTENT = Prompt(
    "intent",
    1,
    "Read one part of a longer video: captions of its scenes with their times in seconds, and, "
    "where there are any, one picture a scene. What in this part bears on the question below? "
    "Think about what the question is really about: a detail to be seen, something to be counted "
    "or ordered over time, or a reason. Give the spans that help (none, if nothing does), "
    "whether the scenes around them are needed too, who of the characters the "
    "question means, and how sure you are. The pictures are reliable, captions less, names least. "
    + DATA,
)
INTENT_FORM = (
    'Reply with JSON only: {"reasoning": text, "spans": [{"start_s": seconds, "end_s": seconds}, '
    '...], "context": true or false, "characters": [texts], "confidence": 1 (a guess) to 5 '
    "(certain)}"
)
REDUCE = Prompt(
    "intent_whole",
    1,
    "Below are analyses of all parts of a video with respect to a question. Merge them into one "
    "of the whole: which spans are needed (at least one; at most ten, unless the question is "
    "about the whole video), who is meant, whether parts must be seen together (global) or one by "
    "one (local), and how their findings make the answer: sum, merge or select. " + DATA,
)
REDUCE_FORM = (
    'Reply with JSON only: {"reasoning": text, "spans": [{"video": number, "start_s": seconds, '
    '"end_s": seconds}, ...], "characters": [texts], "scope": "local" or "global", "combine": '
    '"sum", "merge" or "select", "whole": true or false}'
)
GOAL = Prompt(
    "goal",
    1,
    "Prepare two questions for models that look at pictures of a video. The local one is asked "
    "of many pictures of one span at a time; the global one of one picture of each span "
    "together. Each holds the options of the question, where it has any, and no times. " + DATA,
)
GOAL_FORM = 'Reply with JSON only: {"local": question, "global": question}'
LOOK = Prompt(
    "goal_look",
    1,
    "Answer from the pictures alone, each of which follows its time. Say what is seen and how "
    "often, with times, and how sure you are; if they do not tell, say so. " + DATA,
)
LOOK_FORM = 'Reply with JSON only: {"finding": text, "confidence": 1 (a guess) to 5 (certain)}'
