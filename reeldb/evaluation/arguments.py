"""The arguments of `reel eval`. Imports nothing heavy: the command line needs it for --help."""

from __future__ import annotations

import argparse


def evaluate_arguments(parser: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    """Adds `make` and `run`; `common` are the arguments that every command takes."""
    parts = parser.add_subparsers(dest="part", metavar="make | run", required=True)

    make = parts.add_parser("make", parents=[common], help="draw videos with known answers")
    make.add_argument("folder", metavar="DIR", help="a new folder")
    make.add_argument("--videos", type=int, default=3, help="how many (default 3)")
    make.add_argument("--minutes", type=float, default=10.0, help="of each (default 10)")
    make.add_argument("--questions", type=int, default=10, help="about each video (default 10)")
    make.add_argument("--seed", type=int, default=0, help="another one makes other videos")

    run = parts.add_parser("run", parents=[common], help="ask a benchmark's questions")
    run.set_defaults(interrupted="stopped; run the same command to go on")
    run.add_argument(
        "benchmark", metavar="DIR", help="as `eval make` writes it, or published annotations"
    )
    run.add_argument(
        "--loader", metavar="NAME", help="of published annotations: nextqa, videomme, ..."
    )
    run.add_argument("--videos", metavar="DIR", help="where the loader finds the videos")
    run.add_argument(
        "--strategy", action="append", default=[], metavar="S",
        help="as USING has it, like 'dpp(n => 16)'; several are compared",
    )  # fmt: skip
    run.add_argument(
        "--budget", action="append", default=[], metavar="B",
        help="as BUDGET has it, like '50 captions'; several are compared",
    )  # fmt: skip
    run.add_argument(
        "--models", action="append", default=[], metavar="M",
        help="for this run only, like 'captioner=openai:a, vision=openai:b'; several are compared",
    )  # fmt: skip
    run.add_argument("--answers", metavar="FILE", help="default: DIR/answers.jsonl")
    run.add_argument(
        "--replay", action="store_true",
        help="the same table from the answers alone: no model, no archive, no video",
    )  # fmt: skip
    run.add_argument(
        "--report", metavar="FILE.html", help="the table with plots as one page, too"
    )  # fmt: skip
