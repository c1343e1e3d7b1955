"""`python -m reeldb` is `reel`."""

from reeldb.cli import command

if __name__ == "__main__":
    raise SystemExit(command())
