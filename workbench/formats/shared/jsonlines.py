"""JSON lines as text: splitting a file, its layout, and weaving changed lines into an old file."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice

from workbench.core.files.format import Layout
from workbench.formats.shared.jsontext import JsonReader

BOM = "\ufeff"
_LOOKED_AT = 50
_STRIDE = 500
_VISIBLE_KEY = re.compile(r'"(\w{1,40})"\s*:')
_ASCII_ESCAPE = re.compile(r"\\u(?!00[0-7][^f]|00[0-6]f)")
"""Escapes that only a writer makes that keeps to ASCII; control characters are escaped by all."""


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line number, line) for every line that is not blank, without byte order mark and line ends."""
    for number, line in enumerate(text.removeprefix(BOM).split("\n"), 1):
        if line.strip(" \t\r"):
            yield number, line.removesuffix("\r")


def watched(text: str, watch: Callable[[int, int], None]) -> Iterator[tuple[int, str]]:
    """Yield what `lines` yields, and tell `watch` how far it is every `_STRIDE` lines."""
    total = text.count("\n") + 1
    for number, line in lines(text):
        if not number % _STRIDE:
            watch(number, total)
        yield number, line


def first_keys(head: str) -> frozenset[str]:
    """Return the keys of the first object in the first lines, for telling formats apart.

    When the first line is longer than `head`, the keys are those that can be seen.
    """
    reader = JsonReader()
    for _, line in islice(lines(head), _LOOKED_AT):
        try:
            value = reader.decode(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            return frozenset(value)
    whole = "\n" in head.strip() or not head.removeprefix(BOM).lstrip().startswith("{")
    return frozenset() if whole else frozenset(_VISIBLE_KEY.findall(head))


def layout_of(text: str) -> Layout:
    """Find out how `text` is laid out; the separators are those of the first line that tells."""
    body = text.removeprefix(BOM)
    ends = body.count("\n")
    plain = Layout(
        bom=text.startswith(BOM),
        newline="\r\n" if ends and body.count("\r\n") == ends else "\n",
        final_newline=body.endswith("\n") or not body,
        ascii_only=keeps_to_ascii(body),
    )
    return next((found for _, line in lines(body) if (found := _reproducing(line, plain))), plain)


def keeps_to_ascii(text: str) -> bool:
    """Whether the writer of `text` escaped every character beyond ASCII (false when there was none to escape)."""
    return text.isascii() and _ASCII_ESCAPE.search(text) is not None


def _reproducing(line: str, plain: Layout) -> Layout | None:
    if "," not in line or ":" not in line:
        return None
    try:
        value = JsonReader().decode(line)
    except ValueError:
        return None
    tried = (replace(plain, item_separator=item, key_separator=key) for item in (", ", ",") for key in (": ", ":"))
    return next((layout for layout in tried if dumps(value, layout) == line), None)


def dumps(value: object, layout: Layout) -> str:
    """Write one value as one line; characters that UTF-8 cannot carry are escaped."""
    separators = (layout.item_separator, layout.key_separator)
    line = json.dumps(value, ensure_ascii=layout.ascii_only, separators=separators)
    try:
        line.encode()
    except UnicodeEncodeError:
        return json.dumps(value, ensure_ascii=True, separators=separators)
    return line


def assemble(written: Iterable[str], layout: Layout) -> str:
    """Join lines into the text of a file."""
    body = layout.newline.join(written)
    return (BOM if layout.bom else "") + body + (layout.newline if layout.final_newline and body else "")


def weave(original: str, old: Mapping[int, tuple[str, str]], new: Mapping[str, str], layout: Layout) -> str:
    """Replace in `original` only the lines that changed.

    `old` gives for the line numbers that hold a record its key and how that record would be written;
    `new` gives, in order, how the record of each key is to be written. A line whose record is gone is
    dropped, every line without a record stays, and records the file does not have follow at the end.
    """
    out: list[str] = []
    body = original.removeprefix(BOM)
    raw = body.split("\n")
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
    return (BOM if layout.bom else "") + "\n".join(out) + ("\n" if final and out else "")
