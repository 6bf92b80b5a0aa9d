"""A file's bytes as text and back, also where some are no UTF-8: they stay what they are until their line changes.

Such a byte is a lone surrogate in the text (PEP 383), so that text and bytes are the same in both directions. Readers
and writers of formats never see one: they are given the character that the byte is in Windows-1252.
"""

import re
from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import replace

from workbench.core.files.format import Format, Issue, Parsed, ReadContext, ReadText, WriteText
from workbench.core.files.reason import Reason

_ESCAPED = re.compile("[\udc80-\udcff]")
_FEW, _ONE_IN = 5, 50
"""So many bytes that are no UTF-8 a text may have, or one in so many."""

_SIGNATURES = (
    (b"\x89PNG", "a PNG image"), (b"\xff\xd8\xff", "a JPEG image"), (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF document"), (b"PK\x03\x04", "a ZIP archive or an office document"), (b"\x1f\x8b", "a gzip file"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file"), (b"\x7fELF", "a program"), (b"SQLite format 3\0", "a SQLite database"),
    (b"PAR1", "a Parquet table"), (b"\x93NUMPY", "a NumPy array"), (b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"),
)  # fmt: skip


def text_in(data: bytes) -> str | None:
    """Return the text that bytes are; `None` where they are none, or in another encoding throughout."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    if kind_of(data):
        return None
    text = data.decode("utf-8", "surrogateescape")
    return text if len(_ESCAPED.findall(text)) <= max(_FEW, len(data) // _ONE_IN) else None


def bytes_of(text: str) -> bytes:
    """Return the bytes that a text is in a file. Raises `UnicodeEncodeError` for a half character in it."""
    return text.encode("utf-8", "surrogateescape")


def kind_of(data: bytes) -> str:
    """Say what bytes that are no text are, as part of a sentence; empty for what may be text."""
    known = next((what for sign, what in _SIGNATURES if data.startswith(sign)), "")
    return known or ("a binary file" if b"\0" in data else "")


def tolerant(format: Format) -> Format:
    """Return a format whose reader and writer can do with bytes that are no UTF-8."""
    return replace(format, read=_reading(format.read), write=format.write and _writing(format.write))


def _reading(read: ReadText) -> ReadText:
    def tolerated(text: str, context: ReadContext) -> Parsed:
        if not _has_escaped(text):
            return read(text, context)
        parsed = read(mended(text), context)
        issues = (*parsed.issues, *_said(text, context.file))
        return replace(parsed, issues=tuple(sorted(issues, key=lambda issue: issue.line)))

    return tolerated


def _writing(write: WriteText) -> WriteText:
    def tolerated(parsed: Parsed, original: str | None = None) -> str:
        if original is None or not _has_escaped(original):
            return write(parsed, original)
        return restored(write(parsed, mended(original)), original)

    return tolerated


def _has_escaped(text: str) -> bool:
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return _ESCAPED.search(text) is not None
    return False


def mended(text: str) -> str:
    """Return a text as readers are given it: with the characters that such bytes are in Windows-1252."""
    return _ESCAPED.sub(lambda found: _character(found.group()), text)


def _character(escaped: str) -> str:
    return bytes_of(escaped).decode("cp1252", "replace")


def _said(text: str, file: str) -> Iterator[Issue]:
    """Yield an issue for every line with such a byte."""
    for number, line in enumerate(text.split("\n"), 1):
        found = _ESCAPED.search(line)
        if found is not None:
            byte = bytes_of(found.group())[0]
            what = Reason("byte 0x{} is not UTF-8: read as “{}”", (f"{byte:02x}", _character(found.group())))
            yield Issue(file, number, what, 0, "kept")


def restored(text: str, original: str | None) -> str:
    """Return a text that is to replace another one, with the bytes of those lines that did not change."""
    if original is None or not _has_escaped(original):
        return text
    lines: defaultdict[str, deque[str]] = defaultdict(deque)
    for line in original.split("\n"):
        if _ESCAPED.search(line):
            lines[mended(line)].append(line)
    return "\n".join(lines[line].popleft() if lines.get(line) else line for line in text.split("\n"))
