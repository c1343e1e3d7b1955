"""Measures of answers, texts, moments, shots and preferences; one file each.

Scores are between 0 and 1 (papers print most of them times 100), CIDEr between 0 and 10. What
a measure means where things are missing is in its docstring: nothing is ever left out of a
denominator. A library is imported when its measure is used; the `eval` extra has them all.
"""
