"""Models: embedders, captioners, readers and chat models, each behind one small protocol.

Enters: an address such as `builtin:labels` (`registry`), then pictures or texts. Leaves:
vectors, prose, things found. The protocols are in `schema.models`; an adapter is one file
here, one line in `registry.LOADERS`, and imports its heavy library inside its own module.
May import: schema, numpy, and in each adapter what that adapter needs.
"""
