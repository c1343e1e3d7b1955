"""`reel`: the command line. The only place that prints or exits.

Data go to stdout, progress and notes to stderr. Exit codes: 0 done, 1 something failed (each
named), 2 misuse, 130 interrupted. Nothing heavy is imported before a command needs it.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reeldb import __version__
from reeldb.evaluation.arguments import evaluate_arguments
from reeldb.schema.counts import counted
from reeldb.schema.errors import ReelError

if TYPE_CHECKING:
    from reeldb.database import Database
    from reeldb.ingest.report import Event, Item, Report
    from reeldb.progress import Progress
    from reeldb.query.answer import Answer
    from reeldb.query.result import Result

DONE, FAILED, MISUSE, INTERRUPTED = 0, 1, 2, 130
FORMATS = ("table", "json", "csv", "ndjson")  # render.FORMATS, without importing it for --help


def command() -> int:
    """`reel` as a program of its own: `main`, without looking for garbage at start and end.

    What the imports make stays; collecting among it takes a fifth of a short command.
    """
    gc.set_threshold(50_000, 20, 20)
    try:
        return main()
    finally:
        gc.freeze()  # the interpreter collects once more as it ends: leave it nothing to look at


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and gives its exit code."""
    args = _parser().parse_args(argv)
    try:
        code: int = args.run(args)
        sys.stdout.flush()
        return code
    except ReelError as error:
        _fail(str(error))
        return FAILED
    except KeyboardInterrupt:
        _fail(getattr(args, "interrupted", "stopped; what was done is kept"))
        return INTERRUPTED
    except BrokenPipeError:  # `reel sql ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--archive", metavar="DIR", help="else $REEL_ARCHIVE, else ./reel-archive")
    common.add_argument(
        "--format", choices=FORMATS, help="default: table on a terminal, ndjson into a pipe"
    )
    parser = argparse.ArgumentParser(
        prog="reel", description="A video index with a query language: index once, ask for years."
    )
    parser.add_argument("--version", action="version", version=f"reeldb {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def command(name: str, run: Any, about: str, **more: Any) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, parents=[common], help=about, description=about, **more)
        sub.set_defaults(run=run)
        return sub

    add = command("add", _add, "index files, folders and globs; what is there is left alone")
    add.add_argument("paths", nargs="+", metavar="PATH")
    add.add_argument("--fps", type=float, default=1.0, help="pictures a second (default 1)")
    add.add_argument("--detector", default="content", help="content, adaptive, hash or histogram")
    add.add_argument("--threshold", type=float, help="of the detector (content: 27)")
    add.add_argument("--min-scene", type=float, default=0.5, help="seconds between two cuts (0.5)")
    add.add_argument("--scan", default="full", help="full, or keyframes: a fast preview")
    add.add_argument(
        "--embedder", metavar="ADDRESS", help="fixed by the first add; none: no vectors"
    )
    add.add_argument("--workers", type=int, default=1, help="files at a time (default 1)")
    add.add_argument("--replace", action="store_true", help="index again with these settings")
    add.set_defaults(interrupted="stopped; finished videos are kept, run the same command to go on")

    reindex = command("reindex", _reindex, "give all videos the vectors of another embedder")
    reindex.add_argument("--embedder", required=True, metavar="ADDRESS")
    reindex.set_defaults(interrupted="stopped; finished videos are kept, run it again to go on")

    command("ls", _ls, "list the videos")

    show = command("show", _show, "write a contact sheet of a video's scenes, as PNG")
    show.add_argument("video", metavar="VIDEO")
    show.add_argument("--out", metavar="FILE", help="default: the video's name with .png")

    remove = command("rm", _rm, "take a video out of the archive (never touches the file)")
    remove.add_argument("video", nargs="+", metavar="VIDEO")
    remove.add_argument("--purge", action="store_true", help="forget its captions and readings too")

    sql = command("sql", _sql, "run one statement; SET ...; may stand before it")
    sql.add_argument("statement", help="- reads it from stdin")
    sql.add_argument("--param", action="append", default=[], metavar="NAME=VALUE|@FILE",
                     help="bound as $NAME; @FILE reads a picture")  # fmt: skip
    sql.add_argument("--strict", action="store_true", help="exit 1 when the result is partial")

    explain = command("explain", _explain, "show the plan and its cost, without running it")
    explain.add_argument("statement")
    explain.add_argument("--param", action="append", default=[], metavar="NAME=VALUE|@FILE")

    ask = command("ask", _ask, "answer a question, with evidence")
    ask.add_argument("question")
    ask.add_argument("--video", action="append", default=[], metavar="VIDEO")
    ask.add_argument("--choice", action="append", default=[], metavar="TEXT")
    ask.add_argument("--strategy", default="auto", metavar="NAME",
                     help="with options: 'tree(branch_width => 2)'")  # fmt: skip
    ask.add_argument("--budget", metavar="N", help="calls, or '50 captions, 90 seconds'")
    ask.add_argument("--clips", metavar="DIR", help="cut the evidence out as small MP4 files")
    ask.add_argument("--sheet", metavar="FILE", help="lay the evidence out on one PNG")

    replay = command("replay", _replay, "make an answer again from what is on record, free")
    replay.add_argument("id", metavar="ID")

    summarize = command("summarize", _summarize, "sum up a video, with the times it rests on")
    summarize.add_argument("video", metavar="VIDEO")
    summarize.add_argument("--strategy", default="recursive", help="default: recursive")
    summarize.add_argument("--budget", metavar="N", help="calls, or '50 captions, 90 seconds'")

    fill = command("fill", _fill, "make captions and readings ahead of any question")
    fill.add_argument("video", nargs="*", metavar="VIDEO", help="default: all")
    for kind in ("captions", "ocr", "speech", "objects", "actions"):
        fill.add_argument(f"--{kind}", dest="what", action="append_const", const=kind)

    models = command("models", _models, "show the models in use, check them, or set one")
    models.add_argument("what", nargs="*", metavar="check | set ROLE ADDRESS")
    models.add_argument("--base-url", metavar="URL", help="of the server; kept in your own config")

    command("shell", _shell, "a prompt on the archive, with history and completion")
    command("status", _status, "what the archive holds and what it costs on disk")
    command("verify", _verify, "look for faults; exit 1 if any is found")
    command("compact", _compact, "merge small files, remove leftovers and old versions")

    export = command("export", _export, "write an ordinary DuckDB file")
    export.add_argument("--duckdb", required=True, metavar="FILE")

    evaluate = command("eval", _eval, "make a benchmark, or run strategies over one")
    evaluate_arguments(evaluate, common)

    command("demo", _demo, "index the clip that ships with reeldb and ask it four things")
    return parser


# Commands


def _add(args: argparse.Namespace) -> int:
    from reeldb.progress import Progress
    from reeldb.schema.settings import Settings

    settings = Settings(
        fps=args.fps,
        detector=args.detector,
        threshold=args.threshold,
        min_scene=args.min_scene,
        scan=args.scan,
    )
    progress = Progress()
    try:
        report = _database(args).add(
            args.paths,
            settings,
            embedder=args.embedder,
            workers=args.workers,
            replace=args.replace,
            progress=_shower(progress),
        )
    finally:
        progress.clear()
    if report.skipped:
        files = counted(report.skipped, "other file")
        _note(f"{files} skipped: no video by name (name a file to try it anyway)")
    return _reported(args, report)


def _reindex(args: argparse.Namespace) -> int:
    from reeldb.progress import Progress

    db, progress = _database(args), Progress()
    before = db.models.address("embedder")
    try:
        report = db.reindex(args.embedder, progress=_shower(progress))
    finally:
        progress.clear()
    code = _reported(args, report)
    if code == FAILED:
        _note(f"the embedder stays {before}; `reel models set embedder {args.embedder}` changes it")
    else:
        _note(f"the embedder is now {args.embedder}; SET embedder = '{before}' asks the old one")
    return code


def _shower(progress: Progress) -> Callable[[Event], None]:
    def show(event: Event) -> None:
        if event.item is not None:
            progress.note(_line(event.item))
        else:
            progress.update(event.what, event.done, event.total)

    return show


def _reported(args: argparse.Namespace, report: Report) -> int:
    _note(report.summary())
    if args.format:
        fields = ("path", "outcome", "message", "video_id", "damaged", "seconds")
        _print(args, fields, [[getattr(item, f) for f in fields] for item in report.items])
    return FAILED if report.failed else DONE


def _line(item: Item) -> str:
    return f"{item.outcome:>8}  {item.path}" + (f"  {item.message}" if item.message else "")


LS = """SELECT video, round(duration_s, 2) AS duration_s, scene_count AS scenes,
  width || 'x' || height AS size, codec, damaged, missing, path, video_id
  FROM videos ORDER BY video, video_id"""


def _ls(args: argparse.Namespace) -> int:
    return _result(args, _database(args).sql(LS))


def _show(args: argparse.Namespace) -> int:
    from reeldb.sheet import write_sheet

    db = _database(args)
    video_id = db.snapshot().find_video(args.video)
    print(write_sheet(db, video_id, Path(args.out) if args.out else None))
    return DONE


def _rm(args: argparse.Namespace) -> int:
    db, code = _database(args), DONE
    for video in args.video:
        try:
            _note(f"removed {db.remove(video, purge=args.purge)}")
        except ReelError as error:
            _fail(str(error))
            code = FAILED
    return code


def _sql(args: argparse.Namespace) -> int:
    from reeldb.asking import Lookout, confirm
    from reeldb.script import parameters, settings_first

    text = sys.stdin.read() if args.statement == "-" else args.statement
    settings, statement = settings_first(text)
    db = _database(args)
    for setting in settings:
        db.sql(setting)
    result = db.sql(statement, parameters(args.param), watch=Lookout().show, confirm=confirm)
    return _result(args, result)


def _shell(args: argparse.Namespace) -> int:
    from reeldb.shell import shell

    shell(_database(args))
    return DONE


def _explain(args: argparse.Namespace) -> int:
    from reeldb.script import parameters

    print(_database(args).explain(args.statement, parameters(args.param)))
    return DONE


def _ask(args: argparse.Namespace) -> int:
    from reeldb.asking import Lookout, confirm, write_clips, write_evidence_sheet

    db, lookout = _database(args), Lookout()
    answer = db.ask(
        args.question,
        video=args.video,
        choices=args.choice,
        strategy=args.strategy,
        budget=args.budget,
        watch=lookout.show,
        confirm=confirm,
    )
    code = _told(args, answer)
    if args.clips:
        for clip in write_clips(db, answer, Path(args.clips)):
            _note(f"{clip} written (re-encoded)")
    if args.sheet:
        _note(f"{write_evidence_sheet(db, answer, Path(args.sheet))} written")
    return code


def _replay(args: argparse.Namespace) -> int:
    return _told(args, _database(args).replay(args.id))


def _told(args: argparse.Namespace, answer: Answer) -> int:
    from reeldb.asking import answer_text
    from reeldb.render import json_text

    if _format(args) == "table":
        print(answer_text(answer))
    else:
        print(json_text(answer.record(), indent=1 if args.format == "json" else None))
    return FAILED if answer.status == "failed" else DONE


def _summarize(args: argparse.Namespace) -> int:
    from reeldb.asking import Lookout, confirm

    answer = _database(args).summarize(
        args.video,
        strategy=args.strategy,
        budget=args.budget,
        watch=Lookout().show,
        confirm=confirm,
    )
    return _told(args, answer)


def _fill(args: argparse.Namespace) -> int:
    from reeldb.fill import fill
    from reeldb.progress import Progress

    db, progress = _database(args), Progress()
    snapshot = db.snapshot()
    names = args.video or snapshot.videos["video_id"].to_pylist()
    try:
        filled = fill(
            db,
            [snapshot.find_video(name) for name in names],
            args.what or ["captions"],
            progress.update,
        )
    finally:
        progress.clear()
    for note in filled.notes:
        _note(note)
    _note(f"{filled.captions} captions and {filled.looks} looks made, {filled.calls} calls")
    return DONE


def _models(args: argparse.Namespace) -> int:
    from reeldb.models.describe import check_all, describe_all
    from reeldb.query.prices import said_price

    db = _database(args)
    match args.what:
        case []:
            rows = [
                [
                    d.role,
                    d.address or "none",
                    d.address and said_price(d.address),
                    d.problem or d.can,
                    d.cannot,
                    d.improve,
                ]
                for d in describe_all(db.models)
            ]
            return _print(args, ("role", "address", "price", "can", "cannot", "better"), rows)
        case ["check"]:
            checks = list(check_all(db.models))
            _print(args, ("role", "works", "says"), [[c.role, c.works, c.says] for c in checks])
            return DONE if all(c.works for c in checks) else FAILED
        case ["set", role, address]:
            db.set_model(role, address, base_url=args.base_url)
            _note(f"{role} is now {address}")
            return DONE
    _fail("models takes nothing, or: check, or: set ROLE ADDRESS [--base-url URL]")
    return MISUSE


def _status(args: argparse.Namespace) -> int:
    rows = list(_database(args).status().items())
    return _print(args, ("what", "value"), [[k, v] for k, v in rows])


def _verify(args: argparse.Namespace) -> int:
    faults = _database(args).verify()
    columns = ("kind", "where", "text", "count", "harmless", "cure")
    _print(args, columns, [[getattr(f, c) for c in columns] for f in faults])
    serious = sum(not f.harmless for f in faults)
    harmless = len(faults) - serious
    _note(f"{serious} faults, {harmless} harmless leftovers" if faults else "no fault found")
    return FAILED if serious else DONE


def _compact(args: argparse.Namespace) -> int:
    return _print(args, ("what", "value"), [[k, v] for k, v in _database(args).compact().items()])


def _export(args: argparse.Namespace) -> int:
    schemas = _database(args).export(args.duckdb)
    _note(f"{args.duckdb} written: one schema a video")
    return _print(args, ("video_id", "schema"), list(schemas.items()))


def _eval(args: argparse.Namespace) -> int:
    from reeldb.evaluation.commands import COMMANDS
    from reeldb.progress import Progress

    progress = Progress()
    try:
        said = COMMANDS[args.part](args, progress.update)
    finally:
        progress.clear()
    for note in said.notes:
        _note(note)
    return _print(args, said.columns, said.rows) if said.columns else DONE


def _demo(args: argparse.Namespace) -> int:
    from reeldb.demo import demo

    for part in demo(args.archive):
        print(part, flush=True)
    return DONE


# What they share


def _database(args: argparse.Namespace) -> Database:
    from reeldb.database import open

    return open(args.archive or os.environ.get("REEL_ARCHIVE") or "reel-archive")


def _format(args: argparse.Namespace) -> str:
    return args.format or ("table" if sys.stdout.isatty() else "ndjson")


def _print(
    args: argparse.Namespace, columns: Sequence[str], rows: Iterable[Sequence[object]]
) -> int:
    from reeldb.render import escaped, text

    out = text(_format(args), columns, rows)
    if sys.stdout.isatty():
        out = escaped(out, keep="\n")
    if out:
        print(out)
    return DONE


def _result(args: argparse.Namespace, result: Result) -> int:
    _print(args, result.columns, result.fetchall())
    for note in result.notes:
        _note(note)
    if args.format == "json":
        _note(json.dumps({"status": result.status, **result.stats}, default=str))
    elif result.status != "complete":
        _note(f"status: {result.status}")
    return FAILED if getattr(args, "strict", False) and result.status != "complete" else DONE


def _note(line: str) -> None:
    from reeldb.render import escaped

    print(escaped(line), file=sys.stderr, flush=True)


def _fail(line: str) -> None:
    _note(f"reel: {line}")


if __name__ == "__main__":
    raise SystemExit(main())
