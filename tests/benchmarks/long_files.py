"""What a reader takes for a file that is one thing over and over, against an eighth of it: eight
times at most.

Every format reads every text, also those that are not its own: a person may name the wrong one.
"""

import random
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import product
from pathlib import Path
from types import FrameType

from tests.formats.samples import context
from workbench.core.files.formats import known_formats
from workbench.core.record import UnreadableFile
from workbench.formats.opening import read_file

SIZE, PARTS, ENOUGH_S = 160_000, 8, 20.0
LEAST_S = 0.02
"""Seconds for the smaller file below which a ratio says nothing."""

FIRST = 20261123
TRIES = 3_000

UNITS = (
    "<!-- META\n", "<!--", "-->", "## a\nb\n", "## a\n", "# a\n", "- [", "- [a](b.md) — x\n", "- ", "\n- a", "```\n",
    "**a**: ", "- **a**: b\n", "## [LRN-1] a\n", "## 2026-01-01 — a\n", "[a-00001] helpful=1 harmful=0 :: x\n", "* a\n",
    '{"a":', "[[", "{", '"a":1,', "[1,\n", "a:\n", "  a: b\n", "- a: b\n", "&a ", "|\n", "a,b,c\n", '"a""', "'", "\\",
    "\\u0041", "0", "\t", "\r\n", "\n\n", " ", "---\n", "%20", "<a>", "q1 0 d1 1\n", '{"id":1}\n', '{"content":"a"}\n',
)  # fmt: skip
HEADS = (
    "", "# x", "- x", "a: x", "<!-- META\na: x", "<!-- META\na: b\n-->\n## a\n", "## [LRN-1] x\n**a**: x",
    "[a-00001] helpful=1 harmful=0 :: x", '{"memories":[', '{"memories":[{"id":"a","content":"', '{"skills":{',
    "bullets:\n", 'bullets:\n- content: "', "id,content\n1,", 'id,content\n1,"', "- [a](b.md) — x\n",
)  # fmt: skip


def run(small: bool) -> dict[str, object]:
    """Read texts of a fixed draw with every format; `over` are those that took more than twice
    their share.
    """
    chance, size = random.Random(FIRST), 40_000 if small else SIZE
    units = [*UNITS, *("".join(pair) for pair in product(UNITS, UNITS))]
    over: list[str] = []
    compared, worst = 0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        for each in known_formats():
            _seconds(Path(folder), each.name, "what is imported once is imported now")
        for _ in range(20 if small else TRIES):
            chosen, head, unit = (
                chance.choice(known_formats()).name,
                chance.choice(HEADS),
                chance.choice(units),
            )
            little = _seconds(Path(folder), chosen, head + unit * (size // PARTS // len(unit)))
            if little < (LEAST_S / 100 if small else LEAST_S):
                continue
            ratio = (
                _seconds(Path(folder), chosen, head + unit * (size // len(unit))) / little / PARTS
            )
            compared, worst = compared + 1, max(worst, ratio)
            if ratio > 2:
                over.append(
                    f"{chosen}: {head!r} and {unit!r} over and over: {ratio:.1f} times its share"
                )
    return {
        "characters": size,
        "compared": compared,
        "worst_of_its_share": round(worst, 2),
        "over": over,
    }


def _seconds(folder: Path, name: str, text: str) -> float:
    path = folder / "file.md"
    path.write_text(text, "utf-8")
    start = time.process_time()
    with _ended(), suppress(UnreadableFile):
        read_file(path, format=name, context=context(path.name))
    return time.process_time() - start


class _TooLong(BaseException):
    """Raised in the middle of a reader that takes no end."""


@contextmanager
def _ended() -> Iterator[None]:
    def end(_signal: int, _frame: FrameType | None) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, ENOUGH_S)
    try:
        with suppress(_TooLong):
            yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
