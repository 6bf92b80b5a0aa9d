"""Reading and writing files of episodes: one JSON object, a list of them, or one on each line."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, NoReturn

from workbench.core.errors import UnreadableFile
from workbench.formats import opening
from workbench.formats.episodes import agent_playbook

SUFFIXES = (".json", ".jsonl", ".ndjson")


class Found(NamedTuple):
    """An object that stands in a file for an episode: where (`file`, and `file:line` on lines), and its values."""

    place: str
    doc: object
    dialect: str = ""


def episodes_in(text: str, file: str) -> tuple[Found, ...]:
    """Return the objects that a text has for episodes, those of agent-playbook as what they say.

    Raises `UnreadableFile` when it is no JSON.
    """
    return tuple(_translated(place, doc) for place, doc in _objects(text, file))


def files_in(place: Path, *, hidden: bool = True) -> tuple[Path, ...]:
    """Return the files of episodes in and below a folder, by name, or the file itself; links are not followed.

    What begins with a dot below it is passed over unless `hidden` files count, too.
    """
    if not place.is_dir():
        return (place,)
    found = list[Path]()
    for folder, inside, names in os.walk(place):
        if not hidden:
            inside[:] = [name for name in inside if not name.startswith(".")]
            names = [name for name in names if not name.startswith(".")]
        found += [Path(folder, name) for name in names if name.lower().endswith(SUFFIXES)]
    return tuple(sorted(path for path in found if path.is_file() and not path.is_symlink()))


def read_text(path: Path) -> str:
    """Return the text of a file; raises `UnreadableFile`."""
    return opening.read_text(path)


def _objects(text: str, file: str) -> Iterator[tuple[str, object]]:
    text = text.removeprefix("\ufeff")
    try:
        whole = _loads(text)
    except ValueError as error:
        lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        if len(lines) < 2 or not all(line.lstrip().startswith("{") for _, line in lines):
            raise _no_json(file, error) from error
        for number, line in lines:
            try:
                yield f"{file}:{number}", _loads(line)
            except ValueError as bad:
                raise _no_json(f"{file}:{number}", bad) from bad
        return
    inner = whole.get("episodes") if isinstance(whole, Mapping) else None
    if isinstance(inner, list):
        whole = inner
    if isinstance(whole, list):
        yield from ((f"{file}[{index}]", one) for index, one in enumerate(whole))
    else:
        yield file, whole


def _translated(place: str, doc: object) -> Found:
    if isinstance(doc, Mapping) and agent_playbook.is_one(doc):
        return Found(place, agent_playbook.read(doc), agent_playbook.NAME)
    return Found(place, doc)


def _loads(text: str) -> object:
    """Read JSON; raises `ValueError`, also for what JSON does not have and for what is nested too deep."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _no_json(file: str, error: ValueError) -> UnreadableFile:
    where = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) and "\n" in error.doc else ""
    why = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
    return UnreadableFile(f"{file} is no JSON{where}: {why}.", "Nothing was stored.")
