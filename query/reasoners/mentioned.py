"""Options that stand word for word in what was read or heard."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

WORD = re.compile(r"\w+")
RUN = 5  # letters from which a word counts inside a longer run: readers of text lose spaces


def mentioned(options: Sequence[str], texts: Sequence[str]) -> NDArray[np.bool_]:
    """Of shape (options, texts): whether all words that only this option has stand in the text.

    An option without a word of its own is named nowhere.

    >>> mentioned(["the Peach project", "the Orange project"], ["THE PEACH PR0JECT"]).tolist()
    [[True], [False]]
    """
    words = [set(WORD.findall(option.casefold())) for option in options]
    shared = Counter(word for mine in words for word in mine)
    read = [WORD.findall(text.casefold()) for text in texts]
    out = np.zeros((len(options), len(texts)), bool)
    for i, mine in enumerate(words):
        own = {word for word in mine if shared[word] == 1}
        for j, there in enumerate(read):
            run = "".join(there)
            out[i, j] = bool(own) and all(w in there or (len(w) >= RUN and w in run) for w in own)
    return out
