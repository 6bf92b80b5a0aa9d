"""The faults as they are written down, and where their text and their tests stand."""

import ast
import os
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FLOORS = (
    "core",
    "store",
    "retrieval",
    "reflect",
    "formats",
    "safety",
    "services",
    "cli",
    "tui",
    "others",
)
"""The floors in order; each has a file of its faults."""


class Lost(Exception):
    """A fault's text, or its test, is not where exactly one was to be found."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: `before` stands once in the package and becomes `after`; `test` is the name of
    what catches it.
    """

    number: int
    floor: str
    name: str
    what: str
    before: str
    after: str
    test: str


def faults() -> tuple[Fault, ...]:
    """Return all faults, numbered from 1 in the order of the floors."""
    rows = ((floor, row) for floor in FLOORS for row in _rows(floor))
    return tuple(Fault(number, floor, **row) for number, (floor, row) in enumerate(rows, 1))


def _rows(floor: str) -> list[dict[str, str]]:
    text = Path(__file__).with_name(f"{floor}.toml").read_text("utf-8")
    rows: list[dict[str, str]] = tomllib.loads(text)["fault"]
    return rows


def place(fault: Fault, root: Path = ROOT) -> Path:
    """Return the module that holds the text of a fault; raises `Lost` unless it stands there once
    and nowhere else.
    """
    found = [
        path for path in sources(root) for _ in range(path.read_text("utf-8").count(fault.before))
    ]
    if len(found) != 1:
        raise Lost(
            f"{fault.number} “{fault.name}”: its text stands {len(found)} times in the package."
        )
    return found[0]


def sources(root: Path) -> Iterator[Path]:
    """Yield the modules of the package."""
    return (path for path in sorted((root / "workbench").rglob("*.py")))


def catcher(fault: Fault, root: Path = ROOT) -> str:
    """Return the pytest name of what catches a fault; raises `Lost` unless exactly one test has its
    name.
    """
    found = named_tests(root).get(fault.test, [])
    if len(found) != 1:
        raise Lost(f"{fault.number} “{fault.name}”: {len(found)} tests are called {fault.test}.")
    return f"{found[0].relative_to(root)}::{fault.test}"


def is_slow(fault: Fault, root: Path = ROOT) -> bool:
    """Tell whether the test of a fault is marked slow."""
    path = root / catcher(fault, root).partition("::")[0]
    marks = (
        mark for node in _functions(path) if node.name == fault.test for mark in node.decorator_list
    )
    return any("mark.slow" in ast.unparse(mark) for mark in marks)


def copied(folder: Path) -> Path:
    """Copy the checkout without what is made anew."""
    unneeded = shutil.ignore_patterns(
        ".venv", ".git", "__pycache__", ".*_cache", ".coverage*", ".hypothesis"
    )
    shutil.copytree(ROOT, folder, ignore=unneeded)
    return folder


def run(
    copy: Path, tests: Iterable[str], timeout: float | None = None
) -> subprocess.CompletedProcess[str]:
    """Run tests in the copy, which comes before the checkout that is installed; all their processes
    end in time.
    """
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
        "-rfE",
        *tests,
    ]
    environment = {
        **os.environ,
        "PYTHONPATH": str(copy),
        "PYTHONDONTWRITEBYTECODE": "1",
        "COLUMNS": "200",
    }
    process = subprocess.Popen(
        command, cwd=copy, env=environment, text=True, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        said, _ = process.communicate(timeout=timeout)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return subprocess.CompletedProcess(command, process.returncode, said)


@cache
def named_tests(root: Path) -> dict[str, list[Path]]:
    """Return the files in which tests of a name stand."""
    found: dict[str, list[Path]] = {}
    for path in sorted((root / "tests").rglob("test_*.py")):
        for node in _functions(path):
            found.setdefault(node.name, []).append(path)
    return found


def _functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    tree = ast.parse(path.read_text("utf-8"))
    return [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
