"""The built-in models: offline, no torch, no GPU; weights are package data in `models/data`.

Enters: pictures and texts. Leaves: label vectors (`labels`), text vectors (`minilm`), on-screen
text (`ocr`), a plain sentence (`tags`). All run with onnxruntime on one thread a call
(`session`); `loader` makes them by address, `weights` knows the files and their digests.
"""
