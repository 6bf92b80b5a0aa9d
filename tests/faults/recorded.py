"""What a run of the quick tests is recorded as: which tests run a line, and how long each of them
takes.
"""

import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from functools import cache

from tests.faults.changes import Source
from tests.faults.checkout import ROOT

FOLDER = ROOT / ".coverage-mutants"
LINES, TIMES = FOLDER / "lines.sqlite", FOLDER / "times.xml"
TESTS, SECONDS = 20, 30.0
"""Tests of a mutant at most, and how long they take together."""


class Recorded:
    """What was recorded: which tests ran the lines of a module, and how long each test took."""

    def __init__(self) -> None:
        from coverage import CoverageData

        if not LINES.exists():
            sys.exit(f"Nothing is recorded: {LINES} is not there. See `record`.")
        self.seconds: defaultdict[str, float] = defaultdict(float)
        for case in ET.parse(TIMES).iter("testcase"):
            name = (
                f"{case.get('classname', '').replace('.', '/')}.py::{_plain(case.get('name', ''))}"
            )
            self.seconds[name] += float(case.get("time", 0))
        self._data = CoverageData(str(LINES))
        self._data.read()
        self._files = {
            name.partition("/workbench/")[2]: name for name in self._data.measured_files()
        }
        self._lines = cache(self._of)

    def _of(self, module: str) -> dict[int, set[str]]:
        found = self._data.contexts_by_lineno(self._files.get(module, ""))
        return {
            line: {_plain(name) for name in names if "::" in name} for line, names in found.items()
        }

    def tests(self, source: Source, line: int) -> dict[str, list[str]]:
        """Return the quickest tests that run a line (or what is nearest around it), from as many
        files as may be.
        """
        lines = self._lines(str(source.path.relative_to(ROOT / "workbench")))
        every = (
            set[str]().union(*(lines.get(at, ()) for at in span)) for span in source.around(line)
        )
        names = sorted(next(filter(None, every), ()), key=lambda name: (self.seconds[name], name))
        turns: Counter[str] = Counter()
        order = {}
        for name in names:
            turns[file := name.partition("::")[0]] += 1
            order[name] = turns[file]
        chosen, left = list[str](), SECONDS
        for name in sorted(names, key=lambda name: (order[name], self.seconds[name])):
            if len(chosen) < TESTS and (self.seconds[name] <= left or not chosen):
                chosen.append(name)
                left -= self.seconds[name]
        found: dict[str, list[str]] = {}
        for name in sorted(chosen):
            found.setdefault(name.partition("::")[0], []).append(name.partition("::")[2])
        return found


def _plain(name: str) -> str:
    """Return a test's name without its parameters, and without the phase."""
    return name.partition("[")[0].partition("|")[0]


def record(options: list[str]) -> int:
    """Run the quick tests and note which lines each runs; return pytest's exit code.

    They run in workers of their own: without any, the plugin for coverage does not tell one test
    from another.
    """
    FOLDER.mkdir(exist_ok=True)
    rules = FOLDER / "rules.ini"
    rules.write_text(
        f"[run]\nsource = {ROOT / 'workbench'}\nbranch = false\ndata_file = {LINES}\n", "utf-8"
    )
    asked = [
        "--cov",
        f"--cov-config={rules}",
        "--cov-context=test",
        "--cov-report=",
        f"--junitxml={TIMES}",
    ]
    command = [sys.executable, "-m", "pytest", "-m", "not slow", "-n", "2", *asked, *options]
    return subprocess.run(command, cwd=ROOT, check=False).returncode
