"""Two ways to the product: its command in this process, and the command of an environment it is
installed in.
"""

import contextlib
import gc
import io
import json
import os
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.contract import adapter

COLUMNS = 100
"""How wide help is written."""


@dataclass(frozen=True)
class Answer:
    """The exit code of a command and what it wrote."""

    code: int
    out: bytes
    err: str

    @property
    def json(self) -> Any:
        """What it answered as JSON."""
        return json.loads(self.out)


@dataclass(frozen=True)
class Place:
    """Where commands run: a folder of their own, with a home in it that nobody else has."""

    folder: Path
    more: Mapping[str, str] = field(default_factory=dict)

    @property
    def cwd(self) -> Path:
        """The working directory."""
        return self.folder / "work"

    @property
    def store(self) -> Path:
        """The store that the commands are about, when they name it."""
        return self.folder / "store"

    def environment(self) -> dict[str, str]:
        """Return all variables that a command sees; makes the folders."""
        home = self.folder / "home"
        for folder in (home, self.cwd):
            folder.mkdir(parents=True, exist_ok=True)
        kinds = {
            f"XDG_{kind}_HOME": str(home / kind.lower())
            for kind in ("DATA", "CONFIG", "STATE", "CACHE")
        }
        always = {
            "PATH": os.environ["PATH"],
            "TZ": "UTC",
            "LANG": "C.UTF-8",
            "COLUMNS": str(COLUMNS),
        }
        trusted = {"WORKBENCH_TRUST": str(self.store)}
        return {**always, "HOME": str(home), **kinds, **trusted, **self.more}

    def with_variables(self, **more: str) -> "Place":
        """Return the place with further variables."""
        return Place(self.folder, {**self.more, **more})


class Door(ABC):
    """A way to the product."""

    @abstractmethod
    def run(self, place: Place, *args: str, stdin: str = "") -> Answer:
        """Run one command with exactly these arguments."""

    @abstractmethod
    def ask(self, place: Place, question: str, *args: str) -> Any:
        """Ask the adapter."""


class Inside(Door):
    """The command as a function of this process."""

    def run(self, place: Place, *args: str, stdin: str = "") -> Answer:
        """Run the command's function between streams and variables of its own."""
        main = adapter.command()
        with _surroundings(place), _streams(stdin) as (out, err):
            code = main(list(args))
        gc.unfreeze()  # a process that ends with its command never pays for what it froze; this one goes on
        return Answer(code, out.getvalue(), err.getvalue().decode())

    def ask(self, place: Place, question: str, *args: str) -> Any:
        """Call the adapter; what it answers goes through JSON, as from another process."""
        with _surroundings(place):
            return json.loads(json.dumps(adapter.QUESTIONS[question](*args)))


class Installed(Door):
    """The command that an environment holds, each time as a process; `binaries` is the folder of
    its programs.
    """

    def __init__(self, binaries: Path) -> None:
        self._binaries = binaries

    def run(self, place: Place, *args: str, stdin: str = "") -> Answer:
        """Run the installed program."""
        return self._run([str(self._binaries / "workbench"), *args], place, stdin)

    def ask(self, place: Place, question: str, *args: str) -> Any:
        """Run the adapter as a program of that environment, which sees nothing of this checkout."""
        command = [
            str(self._binaries / "python"),
            "-I",
            adapter.__file__,
            question,
            json.dumps(args),
        ]
        answer = self._run(command, place)
        assert answer.code == 0, answer.err
        return answer.json

    def _run(self, command: Sequence[str], place: Place, stdin: str = "") -> Answer:
        done = subprocess.run(
            command,
            cwd=place.cwd,
            env=place.environment(),
            input=stdin.encode(),
            capture_output=True,
            check=False,
        )
        return Answer(done.returncode, done.stdout, done.stderr.decode())


@contextlib.contextmanager
def _surroundings(place: Place) -> Iterator[None]:
    before, here, ours = dict(os.environ), Path.cwd(), place.environment()
    os.environ.clear()
    os.environ.update(ours)
    time.tzset()
    os.chdir(place.cwd)
    try:
        yield
    finally:
        os.chdir(here)
        os.environ.clear()
        os.environ.update(before)
        time.tzset()


@contextlib.contextmanager
def _streams(stdin: str) -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    before = sys.stdin, sys.stdout, sys.stderr
    out, err = io.BytesIO(), io.BytesIO()
    given = io.TextIOWrapper(io.BytesIO(stdin.encode()), "utf-8")
    written = [io.TextIOWrapper(end, "utf-8", newline="", write_through=True) for end in (out, err)]
    sys.stdin, (sys.stdout, sys.stderr) = given, written
    try:
        yield out, err
    finally:
        for stream in written:
            stream.detach()
        sys.stdin, sys.stdout, sys.stderr = before
