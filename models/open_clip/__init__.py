"""The `open_clip:` adapter: CLIP, SigLIP and their kin, pictures and texts in one space.

```text
loader    address -> embedder; what it is told by files, before any weight is read
place     which model an address names, and where it lies
network   the loaded model with its preprocessing and tokenizer
embedder  pictures and texts to unit vectors
```
"""
