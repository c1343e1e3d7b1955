"""Strategies: ways to answer a question over the archive, one file each.

A strategy is a frozen dataclass whose fields are its options, with a `name`, `plan(shape)` (its
operators and what each costs at most, for EXPLAIN and the default budget) and
`answer(task, reasoner)`. `STRATEGIES` in `registry.py` is the list. It reads like its paper's
algorithm, because everything else is an operator of the task or a judgement of the reasoner:

```text
task.grid(fps=None)                 all grid pictures in the scope, a Sequence[Picture] with .t_s
task.narrow(videos, fps=None)       the grid of the few videos most worth a look, of many
task.uniform(n, grid=None)          at most n of them, evenly spread
task.search(text, k, grid=None)     the k most similar to a text, best first, with .relevance
task.vectors(pictures)              their stored unit vectors, float32 (n, dim); NaN: has none
task.cosines(texts, pictures)       float32 (texts, pictures); NaN: has no vector
task.text_cosines(texts, others)    float32 (texts, others), by the text embedder
task.look(pictures, prompt=FRAME)   captions of single pictures, with on-screen text and speech
task.show(pictures)                 the same without captions: nothing is made
task.describe(stretches, prompt)    one caption for several pictures of one stretch
task.ask(role, requests, form)      typed replies of a chat or vision model, in parallel
task.evidence(seen)                 spans that cite what was seen, best first
reasoner.relevance(seen)            1..3 for each thing seen
reasoner.conclude(seen, pictures)   the answer from what was seen and from pictures
```

Every operator is a step of the trace, goes through the one ledger and the one budget, and can be
replayed. What the budget or a model denies is a typed state (`Seen.state`, `Heard.status`), never
an exception. `task.question`, `task.choices` and `task.note(text)` are there too.
"""
