"""All formats, and the only place of this package that opens files.

A new format is one module with a `FORMAT`, and its line in `FORMATS`.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from workbench.core.errors import UnreadableFile
from workbench.formats import beads, mem0
from workbench.formats.ace import ace, operations, replies, usage_log
from workbench.formats.cass import cass
from workbench.formats.claude_mem import claude_mem, database
from workbench.formats.claude_memory import claude_memory
from workbench.formats.external import messages, notes
from workbench.formats.learnings import learnings
from workbench.formats.letta import letta
from workbench.formats.lifecycle import lifecycle
from workbench.formats.mcp import mcp_memory
from workbench.formats.memory_streams import genagents, generative_agents
from workbench.formats.memory_streams.nodes import agent_name
from workbench.formats.model import Detection, Format, Parsed, ReadContext
from workbench.formats.patterns import patterns
from workbench.formats.plain import reading
from workbench.formats.queries import queryset, trec
from workbench.formats.skillbook import skillbook

FORMATS: tuple[Format, ...] = (
    lifecycle.FORMAT,
    ace.FORMAT,
    queryset.FORMAT,
    genagents.FORMAT,
    generative_agents.FORMAT,
    skillbook.FORMAT,
    cass.FORMAT,
    patterns.FORMAT,
    learnings.FORMAT,
    beads.FORMAT,
    mcp_memory.FORMAT,
    mem0.FORMAT,
    letta.FORMAT,
    claude_memory.FORMAT,
    claude_mem.FORMAT,
    database.FORMAT,
    notes.OVERVIEW_FORMAT,
    notes.DETAIL_FORMAT,
    messages.FORMAT,
    trec.QRELS_FORMAT,
    trec.RUN_FORMAT,
    usage_log.FORMAT,
    replies.FORMAT,
    operations.FORMAT,
    reading.FORMAT,
)

ALIASES: Mapping[str, str] = {
    "jsonl": "lifecycle",
    **dict.fromkeys(("json", "yaml", "csv", "markdown"), reading.NAME),
}
"""What the formats to write are called where they are read under another name."""

HEAD = 65_536
"""How many characters of a file are looked at to tell its format."""

SURE = 0.3
"""Below this confidence a file is of no known format."""

_LARGEST_BESIDE = 1_000_000
"""Bytes of a file beside another that are read at most."""

_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def format_named(name: str) -> Format:
    """Return the format called `name`, or read under that name. Raises `UnreadableFile` when there is none."""
    for known in FORMATS:
        if known.name == ALIASES.get(name, name):
            return known
    raise UnreadableFile(f"There is no format “{name}”.", f"Known formats: {_names()}.")


def detect(path: str | Path, text: str) -> tuple[Detection, ...]:
    """Return the formats `text` may have, the likeliest first; empty when it is none of them."""
    found = [known.detect(text[:HEAD], str(path)) for known in FORMATS]
    return tuple(sorted((one for one in found if one.confidence >= SURE), key=lambda one: -one.confidence))


def read_file(path: str | Path, *, format: str | None = None, context: ReadContext) -> Parsed:
    """Read a file in the given format, or in the one it is detected to have.

    Raises `UnreadableFile` when it is missing, no regular file, empty, not UTF-8 or of no known format.
    """
    full = Path(path)
    chosen = format_named(format) if format is not None else _detected(path, read_text(path))
    place = _absolute(full)
    context = replace(context, path=place, agent=context.agent or agent_name(place), beside=beside(Path(place).parent))
    if chosen.read_path is not None:
        _check(full)
        return chosen.read_path(full, context)
    data = _bytes(full)
    return replace(chosen.read(_text(path, data), context), digest=hashlib.sha256(data).hexdigest())


def read_text(path: str | Path) -> str:
    """Return the exact text of a file, line ends and byte order mark included. Raises `UnreadableFile`.

    Of a database it is only the signature that it begins with, which is what tells its format.
    """
    full = Path(path)
    if _begins_with(full, database.SIGNATURE.encode()):
        return database.SIGNATURE
    return _text(path, _bytes(full))


def _absolute(path: Path) -> str:
    try:
        return str(path.absolute())
    except OSError:
        return str(path)


def beside(folder: Path) -> Callable[[str], str | None]:
    """Return a reader of the text files in and below `folder`; `None` for one that is not there, or too long."""

    def read(name: str) -> str | None:
        try:
            full = (folder / name).resolve()
            if not full.is_relative_to(folder.resolve()) or not full.is_file():
                return None
            if full.stat().st_size > _LARGEST_BESIDE:
                return None
            return full.read_bytes().decode("utf-8", "replace")
        except (OSError, ValueError, RuntimeError):
            return None

    return read


def _begins_with(path: Path, signature: bytes) -> bool:
    _check(path)
    try:
        with path.open("rb") as file:
            return file.read(len(signature)) == signature
    except OSError as error:
        raise _closed(path, error) from error


def _check(path: Path) -> None:
    """Raise `UnreadableFile` unless `path` is a regular file."""
    try:
        if path.is_dir():
            raise UnreadableFile(f"{path} is a folder.", "Name one of the files in it.")
        if not path.exists():
            raise UnreadableFile(f"There is no file {path}.", "Nothing was read; check the name.")
        if not path.is_file():
            raise UnreadableFile(f"{path} is not a regular file.", "Save what it delivers to a file and read that.")
    except OSError as error:
        raise _closed(path, error) from error
    except ValueError:
        raise UnreadableFile(f"{str(path)!r} is no file name.", "Nothing was read.") from None


def _bytes(path: Path) -> bytes:
    _check(path)
    try:
        return path.read_bytes()
    except OSError as error:
        raise _closed(path, error) from error


def _closed(path: Path, error: OSError) -> UnreadableFile:
    reason = error.strerror or type(error).__name__
    return UnreadableFile(f"{path} cannot be opened: {reason}.", "Nothing was read from it.")


def _text(path: str | Path, data: bytes) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        what = f"byte 0x{data[error.start]:02x} at offset {error.start:,}"
        utf16 = data.startswith(_UTF16)
        hint = "It looks like UTF-16; save it as UTF-8." if utf16 else "Nothing was read; save it as UTF-8 text."
        raise UnreadableFile(f"{path} is not UTF-8 text: {what}.", hint) from None
    if not text.strip("\ufeff \t\r\n"):
        raise UnreadableFile(f"{path} is empty.", "Nothing was read and nothing was changed.")
    return text


def _detected(path: str | Path, text: str) -> Format:
    found = detect(path, text)
    if not found:
        raise UnreadableFile(f"{path} is of no known format.", f"Name its format if it has one: {_names()}.")
    return format_named(found[0].format)


def _names() -> str:
    return ", ".join(known.name for known in FORMATS)
