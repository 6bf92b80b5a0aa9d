"""Writing single settings and tables into the person's `config.toml`: comments, order and all else
stay as they are.
"""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.config.settings_reading import VIEWS, view_values
from workbench.core.files.replacing import present_bytes, replace_bytes
from workbench.core.record import InvalidRecord, StoreProblem

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

    from workbench.core.stream.confidence import SavedView

Value = str | bool | int | float

_BOM = "\ufeff"
_KEPT = "Nothing was written; the file is as it was."


def set_values(path: Path, values: Mapping[str, Value]) -> dict[str, object]:
    """Put values under their dotted names (`thresholds.duplicate`); return what stood there, `None`
    for nothing.

    The file is replaced in one step, and made when it is missing. Values that are there already
    write nothing. Raises `InvalidRecord` when the file is not TOML or a name leads through
    something that is no table, and `StoreProblem` or another `WorkbenchError` when it cannot be
    read or written; nothing is written then.
    """
    before: dict[str, object] = {}

    def put(document: "TOMLDocument") -> None:
        before.update(_put(document, path, values))

    _change(path, put)
    return before


def with_values(path: Path, values: Mapping[str, Value]) -> bytes:
    """Return what the file would hold with these values; raises what `set_values` does."""
    data = present_bytes(path) if path.parent.is_dir() else None
    return _changed(path, data or b"", lambda document: _put(document, path, values))


def unset(path: Path, name: str) -> None:
    """Take one value out of the file, if it is there; raises what `set_values` does."""
    _change(path, lambda document: _drop(document, path, _parts(document, name)))


def _put(document: "TOMLDocument", path: Path, values: Mapping[str, Value]) -> dict[str, object]:
    return {
        name: _set(document, path, _parts(document, name), value) for name, value in values.items()
    }


def _parts(document: "TOMLDocument", name: str) -> Sequence[str]:
    """Return what leads to a value; the id of an action may be one key, dots and all."""
    table, _, rest = name.partition(".")
    held = document.get(table)
    return (table, rest) if isinstance(held, dict) and rest in held else name.split(".")


def _change(path: Path, change: "Callable[[TOMLDocument], object]") -> None:
    """Change the document of a file in one step."""
    _make_folder(path.parent)
    data = present_bytes(path) or b""
    text = _changed(path, data, change)
    if text != data:
        replace_bytes(path, text)


def _changed(path: Path, data: bytes, change: "Callable[[TOMLDocument], object]") -> bytes:
    document, mark = _parsed(path, data)
    change(document)
    return (mark + document.as_string()).encode("utf-8")


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise StoreProblem(f"{folder} is a file, not a folder.", "Nothing was written.") from error
    except OSError as error:
        message = f"The folder {folder} cannot be created: {os.strerror(error.errno or 0)}."
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
        raise InvalidRecord(f"{path} is not TOML{at}.", f"{_KEPT} Repair it first.") from error


def _set(document: "TOMLDocument", path: Path, names: Sequence[str], value: Value) -> object:
    """Set one value and return the one before; `names` lead to it, one within the other."""
    import tomlkit

    *tables, key = names
    name = ".".join(names)
    table: Any = document
    for depth, part in enumerate(tables, 1):
        if part not in table:
            table[part] = tomlkit.table(is_super_table=depth < len(tables))
        table = table[part]
        if not isinstance(table, dict):
            raise InvalidRecord(
                f"{path}: “{part}” is not a table, so “{name}” cannot be set.", _KEPT
            )
    before = table.get(key)
    if isinstance(before, dict):
        raise InvalidRecord(f"{path}: “{name}” is a table, not a value.", _KEPT)
    before = getattr(before, "unwrap", lambda: before)()
    if before != value or type(before) is not type(value):
        table[key] = _like(table.get(key), value)
    return before


def _drop(
    document: "TOMLDocument", path: Path, names: Sequence[str], but: Collection[str] = ()
) -> None:
    """Take out a table, or with `but` all that it holds besides some keys; one that is not there is
    left.
    """
    *outer, name = names
    table: Any = document
    for part in outer:
        table = table.get(part, {})
        if not isinstance(table, dict):
            raise InvalidRecord(
                f"{path}: “{part}” is not a table, so “{name}” cannot be set.", _KEPT
            )
    held = table.get(name)
    if not but and held is not None:
        del table[name]
    elif isinstance(held, dict):
        for key in [key for key in held if key not in but]:
            del held[key]


def _like(old: Any, value: Value) -> Any:
    """Return the value as TOML, with the comment that stood behind the old one."""
    import tomlkit

    item = tomlkit.item(value)
    if old is not None and hasattr(old, "trivia"):
        item.trivia.comment, item.trivia.comment_ws = old.trivia.comment, old.trivia.comment_ws
        item.trivia.trail, item.trivia.indent = old.trivia.trail, old.trivia.indent
    return item


def save_view(path: Path, view: "SavedView") -> None:
    """Write a saved view into the file, in place of one of its name; raises what `set_values` does."""
    values = view_values(view)

    def put(document: "TOMLDocument") -> None:
        _drop(document, path, (VIEWS, view.name), but=values)
        for key, value in values.items():
            _set(document, path, (VIEWS, view.name, key), value)

    _change(path, put)


def remove_view(path: Path, name: str) -> None:
    """Take a saved view out of the file, if it is there; raises what `set_values` does."""
    _change(path, lambda document: _drop(document, path, (VIEWS, name)))
