"""Entry point of the command ``hyperhop`` and of ``python -m hyperhop``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; without the extra ``cli`` print one line that names it and exit 1."""
    try:
        from hyperhop.cli import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich"):
            raise
        print(
            "hyperhop: the command line needs the extra 'cli': pip install \"hyperhop[cli]\"",
            file=sys.stderr,
        )
        sys.exit(1)
    except KeyboardInterrupt:
        print("hyperhop: interrupted", file=sys.stderr)
        sys.exit(130)
    app()


if __name__ == "__main__":
    main()
