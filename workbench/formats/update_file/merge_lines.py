"""Putting another text in the place of one in a file: lines that say the same keep every byte."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from workbench.core.stream.memory import Memory
from workbench.core.text import clean_for_store

LONGEST = 2_000
"""Lines up to which each is looked for anywhere; of longer texts only what differs in the middle is replaced."""


class Unplaced(ValueError):
    """What a text says is not what was read of it, so that nobody can tell which of its lines are meant."""


@dataclass(frozen=True, slots=True)
class _Unit:
    """The lines of a file that are one line of what is read: (text, line end); more than one where some are blank."""

    lines: tuple[tuple[str, str], ...]
    is_first: bool = False


def merge_lines(raw: str, old: str, new: str, newline: str, mark: int = 0, indent: int = 0) -> str:
    """Return `raw`, which says `old`, so that it says `new`: only lines change that say something else.

    `mark` is how many characters stand before its text, as the dash of a list item, and `indent` how far its further
    lines are indented. Blank lines of which only one counts stay. Raises `Unplaced` when `raw` does not say `old`.
    """
    units, prefix = _units(raw, old.split("\n"), mark, indent), raw[:mark]
    out: list[tuple[str, str]] = []
    for kept, lines, ends in _parts(old.split("\n"), new.split("\n"), units):
        for unit in kept:
            first, *more = unit.lines
            text = first[0]
            if unit.is_first != (not out):
                text = prefix + _outdented(text, indent) if not out else " " * indent + text[mark:]
            out += [(text, first[1]), *more]
        for line, end in zip_longest(lines, ends[: len(lines)], fillvalue=newline):
            before = prefix if not out else " " * indent if line.strip() else ""
            out.append((before + line, end))
    last = len(out) - 1
    return "".join(text if at == last else text + (end or newline) for at, (text, end) in enumerate(out))


def _parts(
    old: list[str], new: list[str], units: Sequence[_Unit]
) -> Iterator[tuple[Sequence[_Unit], list[str], list[str]]]:
    """Yield what stays, and what comes in place of other lines, with the line ends that those had."""
    for tag, i, j, m, n in _changes(old, new):
        if tag == "equal":
            yield units[i:j], [], []
        else:
            yield (), new[m:n], [unit.lines[-1][1] for unit in units[i:j]]


def _changes(old: list[str], new: list[str]) -> Sequence[tuple[str, int, int, int, int]]:
    if len(old) + len(new) <= LONGEST:
        return difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    start = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    rest = zip(reversed(old[start:]), reversed(new[start:]), strict=False)
    end = next((at for at, (a, b) in enumerate(rest) if a != b), min(len(old), len(new)) - start)
    return [
        ("equal", 0, start, 0, start),
        ("replace", start, len(old) - end, start, len(new) - end),
        ("equal", len(old) - end, len(old), len(new) - end, len(new)),
    ]


def _units(raw: str, old: Sequence[str], mark: int, indent: int) -> list[_Unit]:
    """Return for every line that was read the lines of the file that it stands on."""
    lines = raw.split("\n")
    found: list[_Unit] = []
    for at, line in enumerate(lines):
        last = at == len(lines) - 1
        text = line if last else line.removesuffix("\r")
        pair = (text, "" if last else line[len(text) :] + "\n")
        said = clean_for_store(text[mark:] if not at else _outdented(text, indent)).rstrip()
        if len(found) < len(old) and said == old[len(found)].rstrip():
            found.append(_Unit((pair,), not at))
        elif found and not said:
            found[-1] = _Unit((*found[-1].lines, pair), found[-1].is_first)
        else:
            raise Unplaced("its lines are not those that were read")
    if len(found) != len(old):
        raise Unplaced("it has fewer lines than were read")
    return found


def _outdented(text: str, width: int) -> str:
    margin = len(text) - len(text.lstrip(" "))
    return text[min(margin, width) :]


# What a store says of the records that stand in a file, and what of it a file has a place for.


@dataclass(frozen=True, slots=True)
class Stored:
    """The records of a file as a store has them, by the id each has in the file, and the ids of those that went.

    Of an index `linked` are those of the files that it names, by the name it has for them; `None` where a file goes.
    A note without front matter gets some for what has its place there, with `makes_front`.
    """

    memories: Mapping[str, Memory] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()
    linked: Mapping[str, Memory | None] = field(default_factory=dict)
    makes_front: bool = False

    def __bool__(self) -> bool:
        return bool(self.memories or self.gone or self.linked)


def differing(before: Memory, after: Memory) -> tuple[str, ...]:
    """Return in what a stored record differs from what its file says: text, title, type, tags, votes."""
    sides = (
        ("text", before.content, after.content), ("title", before.summary, after.summary),
        ("type", before.category, after.category), ("tags", before.tags, after.tags),
        ("votes", (before.helpful_count, before.harmful_count), (after.helpful_count, after.harmful_count)),
    )  # fmt: skip
    return tuple(what for what, old, new in sides if old != new)
