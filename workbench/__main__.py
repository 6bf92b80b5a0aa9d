"""The way in: `workbench` and `python -m workbench`."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from workbench.cli.main import PROBLEM, run

INTERRUPTED = 130
BROKEN_PIPE = 141
UNEXPECTED = 70

TRACEBACK = "WORKBENCH_TRACEBACK"
"""Environment variable that lets an unexpected error show where it arose."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; the outermost edge, where every error ends."""
    try:
        _never_fail_to_print()
        code = run(argv, open_app=open_app)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has left; the interpreter's last flush must not complain either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except KeyboardInterrupt:
        sys.stderr.write("workbench: interrupted; what was stored before is safe.\n")
        return INTERRUPTED
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0 if ended.code is None else PROBLEM
    except Exception as error:  # noqa: BLE001
        return _unexpected(error)
    return code


def open_app(store: Path, *, origin: str, demo: bool = False) -> int:
    """Run the app; Textual is imported only here."""
    from workbench.tui.run import run as run_app

    return run_app(store, origin=origin, demo=demo)


def _never_fail_to_print() -> None:
    """Let a terminal that lacks a character show an escape instead."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _unexpected(error: Exception) -> int:
    if os.environ.get(TRACEBACK):
        raise error
    what = f"{type(error).__name__}: {error}".splitlines()[0][:200]
    sys.stderr.write(
        f"workbench: something unexpected went wrong ({ascii(what)[1:-1]}). "
        f"What was stored before is safe; set {TRACEBACK}=1 to see where it happened.\n"
    )
    return UNEXPECTED


if __name__ == "__main__":
    sys.exit(main())
