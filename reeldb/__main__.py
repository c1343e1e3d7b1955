"""`python -m reeldb` is `reel`."""

from reeldb.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
