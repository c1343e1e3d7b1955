"""What SET knows: the names, their values, and what each may be."""

from __future__ import annotations

from dataclasses import dataclass, replace

from reeldb.schema.errors import BindError, near

CHOICES: dict[str, tuple[str, ...]] = {
    "captions": ("lazy", "cached"),
    "ocr": ("lazy", "cached"),
    "speech": ("lazy", "cached"),
    "objects": ("lazy", "cached"),
    "actions": ("lazy", "cached"),
    "search": ("exact", "ann", "auto"),
    "partial": ("sound", "best_effort"),
}
NAMES = (*CHOICES, "embedder", "statement_timeout")
LONGEST_S = 3600.0
OFF = "cached"


@dataclass(frozen=True, slots=True)
class Variables:
    """Values that hold for a connection or shell. `statement_timeout` is in seconds."""

    captions: str = "lazy"
    ocr: str = "lazy"
    speech: str = "lazy"
    objects: str = "lazy"
    actions: str = "lazy"
    search: str = "auto"
    partial: str = "sound"
    embedder: str | None = None
    statement_timeout: float = 30.0
    quiet: bool = False  # the caller wants what there is and no note about the rest

    def with_value(self, name: str, text: str) -> Variables:
        """Raises BindError for an unknown name or a value that it cannot take."""
        if name in CHOICES:
            value = text.lower()
            if value not in CHOICES[name]:
                raise BindError(f"SET {name} = {text!r}: possible are {', '.join(CHOICES[name])}")
            return replace(self, **{name: value})  # type: ignore[arg-type]
        if name == "embedder":
            return replace(self, embedder=text)
        if name == "statement_timeout":
            return replace(self, statement_timeout=_seconds(text))
        raise BindError(f"SET knows no {name!r}: {near(name, NAMES)}")

    def cached(self) -> Variables:
        """The same with nothing computed."""
        return replace(
            self, captions=OFF, ocr=OFF, speech=OFF, objects=OFF, actions=OFF, quiet=True
        )


def _seconds(text: str) -> float:
    try:
        value = float(text.lower().removesuffix("s").strip())
    except ValueError:
        value = -1.0
    if not 0 < value <= LONGEST_S:
        raise BindError(f"SET statement_timeout = {text!r}: give seconds, up to {LONGEST_S:g}")
    return value
