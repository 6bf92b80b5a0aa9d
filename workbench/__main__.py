"""The way in: `workbench` and `python -m workbench`."""

import gc
import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench import crash, streams
from workbench.cli.main import is_hook, run
from workbench.cli.session import BROKEN_PIPE, INTERRUPTED, PROBLEM, UNEXPECTED
from workbench.core.record import WorkbenchError, why_failed
from workbench.core.runtime import collect_seldom
from workbench.crash import TRACEBACK

if TYPE_CHECKING:
    from workbench.core.first_run import FirstRun, FirstStep
    from workbench.services.open import Workbench


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; the outermost edge, where every error ends.

    A hook fails for nothing: its agent would stop, or think that it was told to.
    """
    collect_seldom()
    code = _main(argv)
    if code and is_hook(sys.argv[1:] if argv is None else argv):
        from workbench.cli.agents.capture import note_broken

        note_broken(code)
        return 0
    return code


def _main(argv: Sequence[str] | None) -> int:
    try:
        streams.complete()
        _never_fail_to_print()
        code = _code(argv)
        sys.stdout.flush()
    except BrokenPipeError:
        streams.let_go()
        return BROKEN_PIPE
    except KeyboardInterrupt:
        sys.stderr.write("workbench: interrupted; what was stored before is safe.\n")
        return INTERRUPTED
    except OSError as error:
        return _no_stream(error) or _unexpected(error)
    except Exception as error:  # noqa: BLE001
        return _unexpected(error)
    return code


def _code(argv: Sequence[str] | None) -> int:
    try:
        return run(argv, open_app=open_app, serve_agents=serve_agents, welcome=welcome)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0 if ended.code is None else PROBLEM


def open_app(
    store: Path, *, origin: str, demo: bool = False, begin: str = "", at: int | None = None
) -> int:
    """Run the app; Textual is imported only here."""
    from workbench.tui.app.run import run as run_app

    return run_app(store, origin=origin, demo=demo, begin=begin, at=at)


def welcome(first: "FirstRun") -> "FirstStep | None":
    """Ask a person who has no store yet what to do."""
    from workbench.tui.opening import welcome as ask

    return ask(first)


def serve_agents(bench: "Workbench", args: Namespace) -> int:
    """Serve an open store over MCP; the protocol's library is imported only here."""
    try:
        from workbench.mcp import server  # noqa: F401 - what needs the library
        from workbench.mcp.serving import serve
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith(("mcp", "uvicorn", "starlette", "anyio", "pydantic")):
            raise
        hint = "Install it: pip install 'memory-workbench[mcp]'."
        raise WorkbenchError("The library that speaks MCP is not installed.", hint) from error
    gc.freeze()  # the library's classes, which stay: the collector would walk through them before the first answer
    return serve(bench, args)


def _never_fail_to_print() -> None:
    """Let a terminal that lacks a character show an escape instead."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _no_stream(error: OSError) -> int:
    """Say that a standard stream is closed or full, if that is what an error is about; return the
    exit code, or 0.
    """
    name = error.filename
    if name not in ("stdin", "stdout"):
        return 0
    streams.let_go()
    verb = "read" if name == "stdin" else "written"
    what = why_failed(error)
    sys.stderr.write(
        f"workbench: {name} cannot be {verb}: {what}. What was stored before is safe.\n"
    )
    return PROBLEM


def _unexpected(error: Exception) -> int:
    if os.environ.get(TRACEBACK):
        raise error
    sys.stderr.write(f"workbench: {crash.sentence(error)}\n")
    return UNEXPECTED


if __name__ == "__main__":
    sys.exit(main())
