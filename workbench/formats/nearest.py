"""What a file that is of no known format comes nearest to, and what it lacks to be one of that."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from workbench.core.files.lint import headings, lines
from workbench.core.record import as_object
from workbench.formats import plain_read as cells
from workbench.formats.patch import scan
from workbench.formats.shared import jsonstream
from workbench.formats.shared.jsontext import JsonReader
from workbench.formats.shared.report import shown

_HEAD = 65_536
_FEW = 5
_NAME = re.compile(r"[A-Za-z_#][\w .#/-]{0,17}")
"""What is called a name: too short for a secret, and no sentence."""

_YAML_KEY = re.compile(r"^([A-Za-z_][\w-]{0,40})[ \t]*:(?=\s|$)", re.MULTILINE)


class Nearest(NamedTuple):
    """What a file looks like, with names that stand in it, and what formats of that kind need."""

    looks: str
    has: tuple[str, ...]
    needs: str

    def __str__(self) -> str:
        named = [name for name in self.has if _NAME.fullmatch(name)]
        has = f" with {', '.join(map(shown, named))}" if named else ""
        return f"It looks like {self.looks}{has}; {self.needs}."


_OBJECT = (
    "mem0 needs “results”, a skillbook “skills”, Letta “blocks”, MCP memory “entities”, patterns “patterns”, "
    "records “memories” or “bullets”"
)
_LINES = (
    "learning entries need “context”, records “id” and “content”, MCP memory “name” and “observations”, beads “_type”, "
    "messages “role” and “content”, queries “query” and “relevant”, others a text: --text NAME says which field it is"
)
_LIST = "records need “id” and “content”, genagents “node_id”, memories of mem0 “id” and “memory”"
_TABLE = "a table needs the columns “id” and “content”"
_YAML = "cass needs “bullets”, records “memories” or “bullets”"
_MARKDOWN = (
    "a .learnings file needs headings with [LRN-…] or dates, a playbook lines with [id] and counts, "
    "an index of memories links to Markdown files; instruction files are known by name"
)


def nearest(text: str) -> Nearest | None:
    """Tell what a text comes nearest to; `None` when it is like nothing that is read."""
    head = text.removeprefix("\ufeff")[:_HEAD].lstrip()
    return next(
        (found for found in (_json(head), _table(head), _yaml(head), _markdown(head)) if found),
        None,
    )


def _json(head: str) -> Nearest | None:
    if head[:1] not in ("{", "["):
        return None
    try:
        root = scan(head, 0, JsonReader())
    except ValueError:
        return None
    first = root.entries[0].value if root.entries and root.kind == "[" else None
    if root.kind == "[":
        return Nearest("a JSON list", tuple(as_object(first))[:_FEW], _LIST)
    names = tuple(str(entry.key) for entry in root.entries)[:_FEW]
    if not root.damage and head[root.end :].strip():
        return Nearest("JSON lines", tuple(sorted(jsonstream.first_keys(head)))[:_FEW], _LINES)
    return Nearest("a JSON object", names, _OBJECT)


def _table(head: str) -> Nearest | None:
    first, _, rest = head.partition("\n")
    second = rest.partition("\n")[0]
    for delimiter in cells.DELIMITERS:
        columns = [cell.strip().strip('"') for cell in first.split(delimiter)]
        if (
            len(columns) > 1
            and second.count(delimiter) >= len(columns) - 1
            and all(map(_is_name, columns))
        ):
            return Nearest("a table", tuple(columns[:_FEW]), _TABLE)
    return None


def _is_name(cell: str) -> bool:
    return bool(re.fullmatch(r"[\w .#/-]{1,40}", cell))


def _yaml(head: str) -> Nearest | None:
    names = list(dict.fromkeys(_YAML_KEY.findall(head)))
    written = sum(bool(line.text.strip()) for line in lines(head))
    return (
        Nearest("YAML", tuple(names[:_FEW]), _YAML)
        if names and head.count("\n# ") <= written / 4
        else None
    )


def _markdown(head: str) -> Nearest | None:
    return Nearest("Markdown", (), _MARKDOWN) if any(_headings(head)) else None


def _headings(head: str) -> Iterator[str]:
    return (heading.title for heading in headings(lines(head)))
