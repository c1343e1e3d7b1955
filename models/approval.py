"""Which models an archive may name: those of this machine, and those its user has set up.

An archive may come from a stranger. What it names would be sent pictures of this machine, with
this user's key and money, so a model behind a server works only once the user has named it:
`reel models set` does, and so does a table for it in the user's own config. A scheme that an
installed package plugs in is that package's to guard: it may call `check_approved` too.
"""

from __future__ import annotations

from reeldb.models.config import config_path, read_config, set_endpoint
from reeldb.schema.errors import ModelError

REMOTE = frozenset({"openai"})


def is_approved(address: str) -> bool:
    """Whether this user has set the address up, or it needs no setting up."""
    scheme = address.partition(":")[0]
    if scheme not in REMOTE:
        return True
    tables = read_config()
    return address in tables or scheme in tables


def approve(address: str) -> None:
    """Notes in the user's config that the address may be used. Raises ModelError where the
    config cannot be written."""
    if not is_approved(address):
        set_endpoint(address)


def check_approved(address: str, role: str) -> None:
    """Raises ModelError, with the cure, for an address that only the archive knows."""
    if not is_approved(address):
        raise ModelError(
            f"the archive names {address!r} as its {role}, and nobody has set that up on this "
            f"machine: nothing was sent. If you trust it: `reel models set {role} {address}` "
            "(with --base-url URL for a server of your own); else name another model, or none "
            f"(kept in {config_path()})"
        )
