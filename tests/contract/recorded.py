"""The recorded files: written by one command, compared by the tests."""

import difflib
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from tests.contract.sections import Files

FOLDER = Path(__file__).parent / "recorded"
HINT = "If that is meant: `python -m tests.contract record`, and say in the commit who has to know."
LONGEST = 120
"""Lines of difference that are shown."""

PYTHON_SAID = "python"
"""The file that says which Python laid the help out."""


def record(section: str, files: Files) -> None:
    """Write the files of one part in place of those that were there."""
    folder = FOLDER / section
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_bytes(text.encode())


def recorded(section: str) -> Files:
    """Return the recorded files of one part."""
    folder = FOLDER / section
    paths = sorted(folder.iterdir()) if folder.is_dir() else []
    return {path.name: path.read_bytes().decode() for path in paths}


def difference(section: str, found: Files) -> str:
    """Return how a part differs from what is recorded, as a diff; empty when it does not."""
    then, found = recorded(section), dict(found)
    if section == "help" and then.pop(PYTHON_SAID, "") != found.pop(PYTHON_SAID, ""):
        then, found = _reworded(then), _reworded(found)
    if section == "rankings" and then.get("numerics.txt") != found["numerics.txt"]:
        then, found = _rounded(then), _rounded(found)
    lines = [
        line
        for name in sorted({*then, *found})
        for line in _diff(name, then.get(name, ""), found.get(name, ""))
    ]
    more = [f"… {len(lines) - LONGEST} lines more"] if len(lines) > LONGEST else []
    return "\n".join([*lines[:LONGEST], *more, HINT]) if lines else ""


def _diff(name: str, then: str, now: str) -> Iterator[str]:
    if then != now:
        yield from difflib.unified_diff(
            then.splitlines(), now.splitlines(), f"recorded/{name}", f"today/{name}", lineterm=""
        )


def _reworded(files: Files) -> Files:
    """Leave out how another Python lays help out: where lines break, and how an option's value is
    repeated.
    """
    words = {name: " ".join(text.split()) for name, text in files.items()}
    return {
        name: re.sub(r"(-\w) ([A-Z]+), (--[\w-]+ \2)", r"\1, \3", text)
        for name, text in words.items()
    }


def _rounded(files: Files) -> Files:
    """Leave of the rankings what a machine that computes the last bits in its own way has to say as
    well.
    """
    shortened = {
        name: re.sub(r"\d+\.\d{5}\d+(?:e-\d+)?", lambda found: f"{float(found[0]):.5f}", text)
        for name, text in files.items()
        if name != "numerics.txt"
    }
    return {name: re.sub(r"sha256 \w+", "sha256", text) for name, text in shortened.items()}
