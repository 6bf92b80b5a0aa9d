"""Printing: for people through `printable`, so that stored text stays inert; for programs as JSON."""

import os
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import TypeVar

from workbench.core.agents.actors import agent_in
from workbench.core.record import WorkbenchError, clock_time, iso, minute
from workbench.core.text import cell_width, clip, counted, head, in_order, printable
from workbench.streams import takes_marks

Item = TypeVar("Item")

PIPED_WIDTH = 500
"""Cells of a line when nobody looks at it in a terminal."""


def say(text: str = "") -> None:
    """Print for a person."""
    shown = printable(text, keep_newlines=True)
    print(in_order(shown) if sys.stdout.isatty() and takes_marks() else shown)


def warn(text: str) -> None:
    """Print a remark beside the answer, on one line of stderr."""
    print(printable(text), file=sys.stderr)


def fail(error: WorkbenchError) -> None:
    """Print what went wrong: one sentence, and what was not lost or what to do; it may quote what
    is stored.
    """
    from workbench.services.safety.masking import (
        masked_text,
    )  # what goes well is not to wait for the rules

    warn(f"workbench: {masked_text(str(error))}")


def asks() -> bool:
    """Tell whether a person sits at a terminal, who can be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def answered(question: str) -> str:
    """Ask a person, and return what they typed."""
    sys.stdout.write(question)
    sys.stdout.flush()
    return sys.stdin.readline().strip()


def typed_yes(question: str, unasked: str) -> bool:
    """Ask for a yes in full; raises `WorkbenchError` where nobody can be asked, with the option
    that is taken for it.
    """
    if not asks():
        raise WorkbenchError("No terminal to ask in.", f"Nothing was changed; {unasked}")
    return answered(f"{question} Type yes: ").lower() == "yes"


def write_json(value: object) -> None:
    """Print a value as JSON in ASCII: the true text, and yet nothing a terminal would obey."""
    import json

    print(json.dumps(plain(value), indent=2, default=os.fspath))


def plain(value: object) -> object:
    """Return values with named fields, times and tuples as what JSON knows, every field included.

    Paths stay what they are: a masked one would name no file.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return value


def picked(value: object, *names: str) -> dict[str, object]:
    """Return these fields of a value, for JSON; `name:field` gives one another name."""
    pairs = (name.partition(":") for name in names)
    return {name: getattr(value, field or name) for name, _, field in pairs}


def width() -> int:
    """Return how many cells a line may have."""
    import shutil

    return shutil.get_terminal_size().columns if sys.stdout.isatty() else PIPED_WIDTH


def cut(found: Sequence[Item], limit: int) -> Sequence[Item]:
    """Return the first so many (0: all), and say on stderr how many there are when that is not all."""
    shown = found[:limit] if limit else found
    if len(shown) < len(found):
        warn(f"{len(shown):,} of {len(found):,}; --limit 0 lists all.")
    return shown


def shortened(lines: Sequence[object], most: int | None) -> list[str]:
    """Return the first lines, and how many more there are; without a number all."""
    said = list(map(str, lines[:most]))
    if most is not None and len(lines) > most:
        said.append(f"… {counted(len(lines) - most, 'more line')}")
    return said


def few(names: Sequence[str], most: int) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def table(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> list[str]:
    """Align rows of equal length in columns two cells apart; the last column is cut at the width.

    `right` names the columns that are aligned to the right.
    """
    most = width()
    if not rows:
        return []
    shown = [[printable(head(cell, most)) for cell in row] for row in rows]
    widths = [max(map(cell_width, column)) for column in zip(*shown, strict=True)]
    lines = []
    for row in shown:
        padded = (
            _padded(cell, wide, i in right)
            for i, (cell, wide) in enumerate(zip(row, widths, strict=True))
        )
        lines.append(clip("  ".join(padded).rstrip(), most))
    return lines


def moment(at: datetime, *, agent: bool = False) -> str:
    """Return a time in full, in the machine's zone; an agent, also one that runs the command, gets
    its offset, too.
    """
    return clock_time(at).isoformat(" ", "minutes") if agent or agent_in(os.environ) else minute(at)


def _padded(text: str, wide: int, right: bool) -> str:
    gap = " " * (wide - cell_width(text))
    return gap + text if right else text + gap


LONGEST_COMPARED = 20_000
"""Characters of a text that are compared word by word at most."""


def word_diff(old: str, new: str) -> str:
    """Return `new` with what it adds as {+…+} and what it takes from `old` as [-…-], as
    `git diff --word-diff` does.
    """
    import re
    from difflib import SequenceMatcher  # most commands compare nothing

    token = re.compile(r"\s+|\w+|[^\w\s]")
    before, after = (token.findall(text[:LONGEST_COMPARED]) for text in (old, new))
    pieces = []
    changes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    for tag, left, until, right, to in changes:
        removed, added = "".join(before[left:until]), "".join(after[right:to])
        if tag == "equal":
            pieces.append(added)
        else:
            pieces += [f"[-{removed}-]" if removed else "", f"{{+{added}+}}" if added else ""]
    if max(len(old), len(new)) > LONGEST_COMPARED:
        pieces.append("\n… the rest is not compared")
    return "".join(pieces)
