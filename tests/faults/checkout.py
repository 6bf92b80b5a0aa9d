"""The modules and the tests of a checkout, and a copy of it to run tests in."""

import ast
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


def sources(root: Path) -> Iterator[Path]:
    """Yield the modules of the package."""
    return (path for path in sorted((root / "workbench").rglob("*.py")))


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
