"""What the adapters that run on torch share; torch itself is imported at the first call.

```text
extras    an optional package, or the error with the pip line
hardware  device and number type
settings  the user's settings for one address, checked
batches   batches that are halved when memory runs out, and grown again
weights   where weights are: a folder or a hub name; their digest
warm      networks that are loaded once and shared by the roles that use them
```
"""
