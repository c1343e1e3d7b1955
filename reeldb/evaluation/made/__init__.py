"""A benchmark made from a seed: small drawn videos in which everything that happens is known.

`cast` holds who, where and what there is; `script` is one video's scenes and facts; `questions`
writes facts into a script and asks about them; `drawing` draws a moment, `video` writes the
file; `make` makes the folder.
"""
