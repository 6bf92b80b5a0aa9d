"""What several families of commands are tried with: secrets in a store, processes, a terminal."""

import io
import json
import os
import shutil
import subprocess
import sys
from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.cli.conftest import NOW, Cli
from tests.safety.samples import keys
from workbench.cli.main import utc_now
from workbench.config import paths
from workbench.core.stream.memory import Memory
from workbench.services.open import open_workbench
from workbench.store.library import Library

RULE, KEY = keys()["github"]

WORKBENCH = (sys.executable, "-m", "workbench")
SCRIPT = Path(sys.executable).with_name("workbench")
COMMAND = [str(SCRIPT)] if SCRIPT.exists() else [*WORKBENCH]
ROOT = Path(__file__).parents[2]


def memory(id: str, content: str, at: datetime = NOW, **fields: Any) -> Memory:
    """Return a memory made at `at`."""
    return Memory(id, content, at, at, **fields)


def stored(cli: Cli, *records: object, by: str = "human", group: str = "") -> None:
    """Store records as an action of a person, or of somebody else."""
    library = Library(cli.store, lambda: NOW)
    with library.transaction(by, "set up", group=group) as tx:
        for record in records:
            tx.put(record)
    library.close()


def put(cli: Cli, **contents: str) -> None:
    """Store memories as they are, as an older version could have left them."""
    bench = open_workbench(cli.store, profiles=cli.cwd / "none", clock=utc_now)
    bench.library.journal.gate = None
    with bench.library.transaction("setup", "set up") as tx:
        for id, content in contents.items():
            tx.put(memory(id, content))
    bench.close()


def left_in(folder: Path, secret: str) -> list[str]:
    """Return the files below a folder that hold a secret."""
    return [
        path.name
        for path in folder.rglob("*")
        if path.is_file() and secret.encode() in path.read_bytes()
    ]


def names(parser: ArgumentParser) -> Iterator[str]:
    """Yield the commands, those below a command too."""
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            for name, below in action.choices.items():
                inner = [f"{name} {more}" for more in names(below)]
                yield from inner or [name]


def at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the streams say that they are a terminal's; in the test itself, since pytest swaps them
    before it.
    """
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)


def configure(text: str) -> Path:
    """Write the person's settings, and return their file."""
    path = paths.config_dir() / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def feed(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    """Let a command read this from its stdin."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def loaded(modules: Sequence[str], *arguments: str) -> list[str]:
    """Run a command in a process of its own; return which of some modules it imported."""
    code = (
        "import json, sys\nfrom workbench.__main__ import main\n"
        f"main({list(arguments)!r})\n"
        f"print(json.dumps([m for m in {list(modules)!r} if m in sys.modules]), file=sys.stderr)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    found: list[str] = json.loads(run.stderr.splitlines()[-1])
    return found


def workbench(*arguments: str, prefix: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own."""
    command = [*prefix, *WORKBENCH, *arguments]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, encoding="utf-8"
    )


def without_privileges() -> tuple[str, ...] | None:
    """Return how to start a process that file permissions hold for, or `None` when there is no way."""
    if os.geteuid() != 0:
        return ()
    drop = "-dac_override,-dac_read_search"
    prefix = ("setpriv", f"--bounding-set={drop}", f"--inh-caps={drop}")
    return prefix if shutil.which("setpriv") else None
