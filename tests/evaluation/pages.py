"""A page of HTML as a test reads it: tables as cells, the plots as XML, and what it would load."""

from __future__ import annotations

from html.parser import HTMLParser
from xml.etree import ElementTree

VOID = {"meta", "br"}
SVG = "{http://www.w3.org/2000/svg}"


class Page(HTMLParser):
    """`tables` by heading of their section, each a list of rows of (text, exact value);
    `tags` and `attributes` that came; `open` what was not closed; `wrong` what closed ill."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: dict[str, list[list[tuple[str, str | None]]]] = {}
        self.texts: dict[str, str] = {}
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.wrong: list[str] = []
        self._section = ""
        self.feed(text)
        self.close()
        pieces = text.split("<svg ")[1:]
        self.plots = [ElementTree.fromstring(f"<svg {p.split('</svg>')[0]}</svg>") for p in pieces]

    def points(self, plot: int) -> list[dict[str, str]]:
        return [dict(g.attrib) for g in self.plots[plot].iter(f"{SVG}g")]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "h2":
            self._section = ""
        if tag == "tr":
            self._table.append([])
        if tag in ("td", "th"):
            self._table[-1].append(("", dict(attrs).get("data-value")))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data: str) -> None:
        inside = self.open[-1] if self.open else ""
        if inside == "h2":
            self._section += data
        elif inside in ("td", "th"):
            text, value = self._table[-1][-1]
            self._table[-1][-1] = (text + data, value)
        elif inside != "style":
            self.texts[self._section] = self.texts.get(self._section, "") + data

    @property
    def _table(self) -> list[list[tuple[str, str | None]]]:
        return self.tables.setdefault(self._section, [])

    def column(self, section: str, name: str) -> list[float | None]:
        """The exact values below a heading of a table."""
        head, *rows = self.tables[section]
        at = [text for text, _ in head].index(name)
        return [None if row[at][1] is None else float(row[at][1] or "nan") for row in rows]

    def cells(self, section: str, name: str) -> list[str]:
        head, *rows = self.tables[section]
        at = [text for text, _ in head].index(name)
        return [row[at][0] for row in rows]
