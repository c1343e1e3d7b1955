"""Schema: the words that every other room speaks.

Enters: nothing. Leaves: Arrow schemas (`tables`), the relations people query (`relations`),
spans of time (`spans`), content addresses (`digests`), settings of `add` (`settings`), the
model protocols (`models`), the format version and its migrations (`migrations`), and every
error (`errors`). May import: the standard library and pyarrow, nothing else.
"""
