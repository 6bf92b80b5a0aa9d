"""Writing single settings into the person's `config.toml`: comments, order and everything else stay as they are."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.core.errors import InvalidRecord, StoreProblem
from workbench.core.files.replacing import present_bytes, replace_bytes

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

Value = str | bool | int | float

_BOM = "\ufeff"
_KEPT = "Nothing was written; the file is as it was."


def set_values(path: Path, values: Mapping[str, Value]) -> dict[str, object]:
    """Put values under their dotted names (`thresholds.duplicate`); return what stood there, `None` for nothing.

    The file is replaced in one step, and made when it is missing. Values that are there already write nothing.
    Raises `InvalidRecord` when the file is not TOML or a name leads through something that is no table, and
    `StoreProblem` or another `WorkbenchError` when it cannot be read or written; nothing is written then.
    """
    _make_folder(path.parent)
    data = present_bytes(path) or b""
    document, mark = _parsed(path, data)
    before = {name: _set(document, path, name, value) for name, value in values.items()}
    text = (mark + document.as_string()).encode("utf-8")
    if text != data:
        replace_bytes(path, text)
    return before


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise StoreProblem(f"{folder} is a file, not a folder.", "Nothing was written.") from error
    except OSError as error:
        message = f"The folder {folder} cannot be made: {os.strerror(error.errno or 0)}."
        raise StoreProblem(message, "Nothing was written.") from error


def _parsed(path: Path, data: bytes) -> "tuple[TOMLDocument, str]":
    """Return the document and the byte order mark before it, if there is one."""
    import tomlkit
    from tomlkit.exceptions import ParseError

    try:
        text = data.decode("utf-8")
        mark = _BOM if text.startswith(_BOM) else ""
        return tomlkit.parse(text.removeprefix(_BOM)), mark
    except UnicodeDecodeError as error:
        raise InvalidRecord(f"{path} is not UTF-8 text.", _KEPT) from error
    except (ParseError, RecursionError) as error:
        at = f" (line {error.line})" if isinstance(error, ParseError) else ""
        raise InvalidRecord(f"{path} is not TOML{at}.", f"{_KEPT} Mend it first.") from error


def _set(document: "TOMLDocument", path: Path, name: str, value: Value) -> object:
    """Set one value and return the one before."""
    import tomlkit

    *tables, key = name.split(".")
    table: Any = document
    for part in tables:
        if part not in table:
            table[part] = tomlkit.table()
        table = table[part]
        if not isinstance(table, dict):
            raise InvalidRecord(f"{path}: “{part}” is no table, so “{name}” has no place.", _KEPT)
    before = table.get(key)
    if isinstance(before, dict):
        raise InvalidRecord(f"{path}: “{name}” is a table, not a value.", _KEPT)
    before = getattr(before, "unwrap", lambda: before)()
    if before != value or type(before) is not type(value):
        table[key] = _like(table.get(key), value)
    return before


def _like(old: Any, value: Value) -> Any:
    """Return the value as TOML, with the comment that stood behind the old one."""
    import tomlkit

    item = tomlkit.item(value)
    if old is not None and hasattr(old, "trivia"):
        item.trivia.comment, item.trivia.comment_ws = old.trivia.comment, old.trivia.comment_ws
        item.trivia.trail, item.trivia.indent = old.trivia.trail, old.trivia.indent
    return item
