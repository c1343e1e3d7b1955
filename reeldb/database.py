"""`Database`: one archive and everything one can do with it, in Python.

It joins the rooms that never import each other (query and ingest), and imports each only
when it is used, so that a cached answer does not wait for a decoder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reeldb.schema.settings import Settings

if TYPE_CHECKING:
    from types import TracebackType

    from reeldb.index.archive import Archive
    from reeldb.index.snapshot import Snapshot
    from reeldb.index.verify import Fault
    from reeldb.ingest.report import Event, Report
    from reeldb.models.registry import Models
    from reeldb.query.answer import Answer, Step
    from reeldb.query.engine import Engine
    from reeldb.query.expected import Expected
    from reeldb.query.result import Result

Parameters = Sequence[object] | Mapping[str, object]


def open(path: str | Path = "reel-archive") -> Database:
    """The archive at `path`. It need not exist yet: the first `add` makes it."""
    return Database(path)


class Database:
    """An archive of videos. Sync, and safe to open many times at once."""

    def __init__(self, path: str | Path = "reel-archive") -> None:
        self.path = Path(path)
        self._archive: Archive | None = None
        self._engine: Engine | None = None
        self._models: Models | None = None

    def __repr__(self) -> str:
        return f"reeldb.open({str(self.path)!r})"

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Gives back memory and open files; the archive itself needs no closing."""
        if self._engine is not None:
            self._engine.close()
        self._archive = self._engine = self._models = None

    @property
    def archive(self) -> Archive:
        """The archive on disk. Raises ArchiveError where there is none."""
        if self._archive is None:
            from reeldb.index.archive import Archive

            self._archive = Archive.open(self.path)
        return self._archive

    @property
    def models(self) -> Models:
        """The models that the archive names (the defaults where there is no archive yet),
        loaded when first needed."""
        if self._models is None:
            from reeldb.models.approval import check_approved
            from reeldb.models.registry import Models

            roles = self.archive.models if self.path.exists() else {}
            self._models = Models(roles, allow=check_approved)
        return self._models

    def with_models(self, roles: Mapping[str, str]) -> Database:
        """The same archive with other models for these roles, as long as what this gives is
        open; what the archive itself names stays. Close both.

        Raises ModelError where a model does not fit its role.
        """
        from typing import cast

        from reeldb.models.approval import check_approved
        from reeldb.models.registry import NONE, Models, load
        from reeldb.schema.models import Role

        def allow(address: str, role: str) -> None:
            if roles.get(role) != address:  # the caller trusts what the caller names
                check_approved(address, role)

        other = Database(self.path)
        own = self.archive.models if self.path.exists() else {}
        other._models = Models({**own, **roles}, allow=allow)
        for role, address in roles.items():
            if address != NONE:
                load(address, cast(Role, role))
        return other

    def set_model(self, role: str, address: str, *, base_url: str | None = None) -> None:
        """Names the archive's model for a role; the server's URL goes to the user's own config.

        Raises ModelError where the model does not fit the role.
        """
        from typing import cast

        from reeldb.index.archive import Archive
        from reeldb.models.approval import approve
        from reeldb.models.config import set_endpoint
        from reeldb.models.registry import NONE, load
        from reeldb.schema.models import Role

        if base_url is not None:
            set_endpoint(address, base_url=base_url)
        if address != NONE:
            load(address, cast(Role, role))
            approve(address)
        if self._archive is None:
            self._archive = Archive.open(self.path, create=True)
        self._archive.set_model(role, address)
        self._engine = self._models = None

    @property
    def engine(self) -> Engine:
        """What runs statements; it keeps the `SET` values of this connection."""
        if self._engine is None:
            from reeldb.query.engine import Engine

            self._engine = Engine(self.archive, self.models)
        return self._engine

    # Filling the archive

    def add(
        self,
        paths: str | Path | Sequence[str | Path],
        settings: Settings | None = None,
        *,
        embedder: str | None = None,
        workers: int = 1,
        replace: bool = False,
        progress: Callable[[Event], None] | None = None,
    ) -> Report:
        """Indexes files, folders and globs; what is there already is left alone.

        `embedder` is an address, or `none` to store no vectors; the first `add` fixes it.
        One bad file never stops the others: the report names it.
        """
        from reeldb.index.archive import Archive
        from reeldb.ingest.add import add

        if self._archive is None:
            self._archive = Archive.open(self.path, create=True)
        several = [paths] if isinstance(paths, str | Path) else list(paths)
        return add(
            self.archive,
            several,
            settings or Settings(),
            embedder=embedder,
            workers=workers,
            replace=replace,
            progress=progress,
        )

    def reindex(self, embedder: str, *, progress: Callable[[Event], None] | None = None) -> Report:
        """Gives every video the vectors of another embedder, beside those it has; captions stay.

        When all have them the archive uses that embedder; `SET embedder = 'ADDRESS'` asks in
        the space of another one. A run that was stopped goes on with the rest.
        """
        from reeldb.ingest.reindex import reindex

        report = reindex(self.archive, embedder, progress=progress)
        self._engine = self._models = None
        return report

    def remove(self, video: str, *, purge: bool = False) -> str:
        """Takes a video (name or id) out and gives its id; captions stay, unless `purge`."""
        from reeldb.index.commit import Writer

        video_id = self.archive.snapshot().find_video(video)
        Writer(self.archive).remove(video_id, purge=purge)
        return video_id

    # Asking it

    def sql(
        self,
        statement: str,
        parameters: Parameters = (),
        *,
        watch: Callable[[Step], None] | None = None,
        confirm: Callable[[Expected], bool] | None = None,
    ) -> Result:
        """Runs one statement of the query language; parameters are bound, never pasted.

        `watch` and `confirm` are for statements that ASK, as in `ask`.
        """
        return self.engine.sql(statement, parameters, watch=watch, confirm=confirm)

    def explain(self, statement: str, parameters: Parameters = ()) -> str:
        """The statement's plan as a tree of text. Calls no model."""
        rows = self.engine.sql(f"EXPLAIN {statement}", parameters).fetchall()
        return "\n".join(str(row[0]) for row in rows)

    def ask(
        self,
        question: str,
        *,
        video: str | Sequence[str] | None = None,
        choices: Sequence[str] = (),
        strategy: str = "auto",
        options: Mapping[str, object] | None = None,
        budget: Mapping[str, float] | str | int | None = None,
        watch: Callable[[Step], None] | None = None,
        confirm: Callable[[Expected], bool] | None = None,
    ) -> Answer:
        """Answers a question with evidence. `video` narrows it to names or ids; `strategy` may
        carry options as in a statement, `tree(branch_width => 2)`.

        `watch` is shown each step as it ends; `confirm` is asked before a question without a
        budget that may take more than 256 captions and calls.
        """
        from reeldb.query.ask import Question, ask
        from reeldb.query.parse import using

        names = [video] if isinstance(video, str) else list(video or [])
        snapshot, way = self.snapshot(), using(strategy)
        asked = Question(
            text=question,
            choices=tuple(choices),
            videos=tuple(snapshot.find_video(n) for n in names),
            strategy=way.name,
            options={**way.options, **(options or {})},
            budget=budget_of(budget),
        )
        return ask(self.engine, asked, watch, confirm)

    def replay(self, id: str) -> Answer:
        """The answer of this id, made again from what is on record, without asking any model."""
        from reeldb.query.replay import replay

        return replay(self.engine, id)

    def summarize(
        self,
        video: str,
        *,
        strategy: str = "recursive",
        options: Mapping[str, object] | None = None,
        budget: Mapping[str, float] | str | int | None = None,
        watch: Callable[[Step], None] | None = None,
        confirm: Callable[[Expected], bool] | None = None,
    ) -> Answer:
        """A summary of one video (name or id), with the spans that it was made from; the other
        arguments are those of `ask`."""
        from reeldb.query.ask import ask
        from reeldb.query.parse import using
        from reeldb.query.summarize import summary_of

        way = using(strategy)
        given = {**way.options, **(options or {})}
        asked = summary_of(self.engine, video, way.name, given, budget_of(budget))
        return ask(self.engine, asked, watch, confirm)

    def captions(
        self, video: str, *, names: bool = True, version: str | None = None
    ) -> list[dict[str, object]]:
        """The dense captions of a video, as {start_s, end_s, text, key}, with the names of its
        entities (of a version, else the newest) or, without `names`, as they were written."""
        from reeldb.query.named import named_captions

        video_id = self.snapshot().find_video(video)
        return named_captions(self.engine, video_id, version, names=names)

    def remove_entities(self, version: str) -> int:
        """Undoes a merging of names: removes that version of the entities; gives how many."""
        from reeldb.index.entities import remove_entities

        return remove_entities(self.archive, version)

    # Looking after it

    def snapshot(self) -> Snapshot:
        """One consistent version of the archive."""
        return self.archive.snapshot()

    def status(self) -> dict[str, Any]:
        """What the archive holds and what it costs on disk."""
        from reeldb.index.status import status

        return status(self.archive)

    def verify(self) -> list[Fault]:
        """Every fault found; an empty list is a sound archive."""
        from reeldb.index.verify import verify

        return verify(self.archive)

    def compact(self) -> dict[str, Any]:
        """Merges small files, removes leftovers of killed runs and old versions."""
        from dataclasses import asdict

        from reeldb.index.compact import compact

        return asdict(compact(self.archive))

    def export(self, duckdb: str | Path) -> dict[str, str]:
        """Writes an ordinary DuckDB file; gives the schema of each video by its id."""
        from reeldb.index.export import export_duckdb

        return export_duckdb(self.archive, Path(duckdb))


def budget_of(budget: Mapping[str, float] | str | int | None) -> dict[str, float]:
    """A budget in any form people write it, as limits by unit; a bare number counts calls.

    Raises BudgetError for a unit or a number that makes no sense.
    """
    from reeldb.query.budget import Limits, parse_budget

    if budget is None:
        return {}
    if isinstance(budget, str):
        budget = parse_budget(f"{budget} calls" if budget.strip().isdecimal() else budget)
    return Limits.of({"calls": budget} if isinstance(budget, int) else budget).amounts()
