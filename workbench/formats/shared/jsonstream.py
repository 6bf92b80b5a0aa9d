"""JSON values one after another: a line each, several on a line (`{}{}`), or one over several
lines.

What cannot be read is passed over up to the next value on its line, or the next line.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from workbench.core.files.format import Layout, Parsed, ReadContext, unwatched
from workbench.core.files.lint import applied
from workbench.core.record import UnreadableFile
from workbench.core.runtime import Progress
from workbench.core.stream.memory import Memory
from workbench.formats import patch
from workbench.formats.patch import keeps_to_ascii
from workbench.formats.shared.jsontext import JsonReader, NotJson, skip
from workbench.formats.shared.report import Report

R = TypeVar("R")
ReadOne = Callable[[Any], tuple[Memory, Sequence[tuple[str, str]]]]

# JSON lines as text: splitting a file, its layout, and weaving changed lines into an old file.


_LOOKED_AT = 50
_STRIDE = 500
_VISIBLE_KEY = re.compile(r'"(\w{1,40})"\s*:')


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line number, line) for every line that is not blank, without byte order mark and line
    ends.
    """
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip(" \t\r"):
            yield number, line.removesuffix("\r")


def watched(text: str, watch: Progress) -> Iterator[tuple[int, str]]:
    """Yield what `lines` yields, and tell `watch` how far it is every `_STRIDE` lines."""
    total = text.count("\n") + 1
    for number, line in lines(text):
        if not number % _STRIDE:
            watch(number, total)
        yield number, line


def documents(
    text: str, report: Report, watch: Progress = unwatched
) -> Iterator[tuple[int, Any, tuple[str, ...]]]:
    """Yield the line of each value, the value, and what of it could not be kept as it was; lines
    that are no JSON become issues.
    """
    reader = JsonReader()
    for number, line in watched(text, watch):
        try:
            value = reader.decode(line)
        except ValueError as reason:
            report.skip(number, reason)
            continue
        yield number, value, tuple(sorted(reader.changes))


def read_lines(name: str, text: str, context: ReadContext, read: ReadOne) -> Parsed:
    """Read a memory of each line that `read` can read; the others become issues."""
    report = Report(context.file)
    found = report.every(documents(text, report, context.watch), read)
    return report.parsed(name, memories=found, layout=layout_of(text))


def write_lines(
    parsed: Parsed, original: str | None, read: ReadOne, document: Callable[[Memory], Any]
) -> str:
    """Write the memories, one a line, as the `document` that each is; with `original`, only lines
    whose memory changed are new.
    """

    def old(text: str) -> Iterator[tuple[int, str, Memory]]:
        nobody = Report("")
        for number, memory in nobody.each(documents(text, nobody), read):
            yield number, memory.id, memory

    def line(memory: Memory, layout: Layout) -> str:
        return dumps(document(memory), layout)

    new = {memory.id: memory for memory in parsed.memories}
    return rewritten(original, parsed.layout, new, old, line)


def objects(head: str, most: int = _LOOKED_AT) -> list[dict[str, Any] | None]:
    """Return the objects of the first lines, `None` for a line that is none; the last one may be
    cut off.
    """
    reader, found = JsonReader(), list[dict[str, Any] | None]()
    for _, line in islice(lines(head), most):
        try:
            value = reader.decode(line)
        except ValueError:
            value = None
        found.append(value if isinstance(value, dict) else None)
    return found[:-1] if len(found) > 1 and found[-1] is None else found


def first_keys(head: str) -> frozenset[str]:
    """Return the keys of the first object in the first lines, for telling formats apart.

    When the first line is longer than `head`, the keys are those that can be seen.
    """
    first = next((doc for doc in objects(head) if doc is not None), None)
    if first is not None:
        return frozenset(first)
    whole = "\n" in head.strip() or not head.lstrip().startswith("{")
    return frozenset() if whole else frozenset(_VISIBLE_KEY.findall(head))


def layout_of(text: str) -> Layout:
    """Find out how the lines of `text` are written."""
    return replace(patch.layout_of(text), unit="")


def dumps(value: object, layout: Layout) -> str:
    """Write one value as one line; characters that UTF-8 cannot carry are escaped."""
    return patch.dumps(value, layout, inline=True)


def assemble(written: Iterable[str], layout: Layout) -> str:
    """Join lines into the text of a file."""
    body = layout.newline.join(written)
    return body + (layout.newline if layout.final_newline and body else "")


def rewritten(
    original: str | None,
    layout: Layout,
    new: Mapping[str, R],
    old: Callable[[str], Iterable[tuple[int, str, R]]],
    line: Callable[[R, Layout], str],
) -> str:
    """Return a file of records, one a line; with an `original`, only lines whose record changed are
    new.

    Records go by their key; `old` gives those of the original with their line numbers and keys.
    """
    if original is None:
        return assemble((line(record, layout) for record in new.values()), layout)
    layout = layout_of(original)
    before = {number: (key, line(record, layout)) for number, key, record in old(original)}
    return weave(original, before, {key: line(r, layout) for key, r in new.items()}, layout)


def weave(
    original: str, old: Mapping[int, tuple[str, str]], new: Mapping[str, str], layout: Layout
) -> str:
    """Replace in `original` only the lines that changed.

    `old` gives for the line numbers that hold a record its key and how that record would be
    written; `new` gives, in order, how the record of each key is to be written. A line whose record
    is gone is dropped, every line without a record stays, and records the file does not have follow
    at the end.
    """
    out: list[str] = []
    raw = original.split("\n")
    final = raw[-1] == ""
    for number, line in enumerate(raw[:-1] if final else raw, 1):
        key, before = old.get(number, ("", ""))
        if number not in old or new.get(key) == before:
            out.append(line)
        elif key in new:
            out.append(new[key] + ("\r" if line.endswith("\r") else ""))
    known = {key for key, _ in old.values()}
    end = "\r" if layout.newline == "\r\n" else ""
    added = [line for key, line in new.items() if key not in known]
    if added and out and not final:
        out[-1] += end
    out += [line + end for line in added]
    if added and not final:
        out[-1] = out[-1].removesuffix("\r") if end else out[-1]
    return "\n".join(out) + ("\n" if final and out else "")


# JSON inside a JSON string: the inner text, and the outer one again after a change.


class Unwrapped(NamedTuple):
    """The JSON text of a file; `start` and `end` are where its string stands, when it is inside
    one.
    """

    outer: str
    text: str
    start: int = -1
    end: int = -1

    @property
    def nested(self) -> bool:
        """Whether the text was inside a string."""
        return self.start >= 0

    def lines(self) -> patch.Lines:
        """Return what finds lines of the inner text; a string stands on one, whatever it holds."""
        return patch.Lines(self.text, patch.Lines(self.outer).at(self.start) if self.nested else 0)

    def wrapped(self, text: str) -> str:
        """Return the file with another JSON text."""
        if not self.nested:
            return text
        if text == self.text:
            return self.outer
        literal = json.dumps(text, ensure_ascii=keeps_to_ascii(self.outer[self.start : self.end]))
        return self.outer[: self.start] + literal + self.outer[self.end :]


def unwrap(text: str, file: str) -> Unwrapped:
    """Return the JSON text of a file, out of the string it may stand in. Raises `UnreadableFile`."""
    start = skip(text, 0)
    if text[start : start + 1] != '"':
        return Unwrapped(text, text)
    try:
        inner, end = JsonReader().decode_at(text, start)
    except ValueError as error:
        raise UnreadableFile(
            f"{file} cannot be read: {error} (line 1).", "Nothing was read from it."
        ) from None
    return Unwrapped(text, str(inner), start, end)


_BLANK = " \t\r\n"
_NEXT = re.compile(r"\}[ \t\r]*(?=\{)")
_OPEN = ("{", "[", ",", ":")
_FEW = 4_000
"""Characters of the first try to read a value that goes on over lines."""


class Value(NamedTuple):
    """One value with its line and place; or the damage found there."""

    line: int
    start: int
    end: int
    value: object = None
    changes: tuple[str, ...] = ()
    damage: str = ""


def values(text: str) -> Iterator[Value]:
    """Yield every value of `text`, and every damaged part once."""
    reader, at, number = JsonReader(), 0, 1
    first, line = at, ""
    while True:
        start = skip(text, at)
        number += text.count("\n", at, start)
        if start == len(text):
            return
        if start >= first + len(line):
            stop = text.find("\n", start)
            first, line = start, text[start : stop if stop >= 0 else len(text)]
        found = _one(text, line, first, start, number, reader)
        yield found
        number += text.count("\n", start, found.end)
        at = found.end


def _one(text: str, line: str, first: int, start: int, number: int, reader: JsonReader) -> Value:
    """Read the value at `start`, in the `line` whose text is known from `first` on."""
    try:
        try:
            value, end = reader.decode_at(line, start - first)
            end += first
        except ValueError:
            # Only what is left open at the end of its line can go on in the next one.
            if not line.rstrip().endswith(_OPEN):
                raise
            value, end = _over_lines(text, start, number, reader)
    except ValueError as error:
        following = _NEXT.search(line, start - first)
        end = first + (following.end() if following else len(line))
        return Value(number, start, end, damage=str(error))
    return Value(number, start, end, value, tuple(sorted(reader.changes)))


def _over_lines(text: str, start: int, number: int, reader: JsonReader) -> tuple[object, int]:
    """Read the value that begins at `start`, on line `number`, and goes on over as many lines as it
    needs.

    Ever more lines are tried while the value is open at their end: an error costs as much as the
    text before it.
    """
    size = _FEW
    while True:
        stop = text.find("\n", start + size) + 1 or len(text)
        part = text[start:stop]
        try:
            value, end = reader.decode_at(part, 0)
        except NotJson as error:
            if stop < len(text) and error.pos >= len(part.rstrip(_BLANK)):
                size *= 4
                continue
            at = start + error.pos
            line, column = number + part.count("\n", 0, error.pos), at - text.rfind("\n", 0, at)
            raise NotJson(error.said, at, line, column) from None
        return value, start + end


def spliced(
    text: str, values: Mapping[tuple[int, int], str | None], added: Iterable[str], newline: str
) -> str:
    """Return `text` with other texts at some (start, end) places (None: nothing, nor its line), and
    lines added.
    """
    body = applied(
        text,
        [
            (*_with_line(text, *place), "") if value is None else (*place, value)
            for place, value in values.items()
        ],
    )
    lines = list(added)
    if not lines:
        return body
    gap = "" if not body or body.endswith("\n") else newline
    final = newline if text.endswith("\n") or not text else ""
    return body + gap + newline.join(lines) + final


def _with_line(text: str, start: int, end: int) -> tuple[int, int]:
    """Widen a place to its line with the line end, where nothing else stands on it."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    alone = not text[first:start].strip(" \t\r") and not text[
        end : last if last >= 0 else None
    ].strip(" \t\r")
    if not alone:
        return start, end
    if last < 0:
        # The last line goes with the line end before it, so that the file ends as it did.
        return (first - (2 if text[first - 2 : first] == "\r\n" else 1) if first else 0), len(text)
    return first, last + 1
