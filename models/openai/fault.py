"""What can go wrong with a request, as the rest of the adapter sees it."""

from __future__ import annotations

from typing import Literal

Kind = Literal[
    "again",  # a passing trouble: the same request may be sent again
    "unreachable",  # nobody listens there, now at least
    "large",  # more pictures, bytes or text than the model takes
    "parameter",  # an optional part of the request is not supported
    "refused",  # a content policy forbids it
    "misused",  # wrong key, address or model: no request will ever work
    "failed",  # this request does not work; others may
]


class Fault(Exception):
    """One failed request: its kind, why in one line, and how long the server says to wait."""

    def __init__(
        self,
        kind: Kind,
        note: str,
        *,
        wait_s: float | None = None,
        parameters: tuple[str, ...] = (),
        model: bool = False,
    ) -> None:
        super().__init__(note)
        self.kind = kind
        self.note = note
        self.wait_s = wait_s
        self.parameters = parameters
        self.model = model  # whether it is the model's name that is wrong


class NoJson(Exception):
    """An answer that is not JSON; `page` where it is a web page."""

    def __init__(self, what: str, *, page: bool = False) -> None:
        super().__init__(what)
        self.page = page
