"""One round of a file: import it, one edit of somebody's, export over it; what of it is lost."""

import difflib
import json
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from workbench.core.files.format import Format
from workbench.core.playbook.book import Bullet
from workbench.core.record import InvalidRecord
from workbench.core.stream.memory import Memory
from workbench.formats.exports import OUTLETS
from workbench.services.files.exporting import Choice
from workbench.services.open import Workbench, open_workbench

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
Edit = Literal[
    "nothing", "cache", "add", "change", "remove", "content", "vote", "forget", "add and cache"
]
EDITS: tuple[Edit, ...] = (
    "nothing", "cache", "add", "change", "remove", "content", "vote", "forget", "add and cache",
)  # fmt: skip

GOING = (
    "status",
    "state",
    "maturity",
    "archived_reason",
    "deprecated",
    "total",
    "block_ids",
    "sections",
)
"""Fields that say that a record goes, or that it was there."""

LONG = 8
"""Characters of a value that is worth looking for in a record's text."""

Where = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Round:
    """What one round came to: what became of the file, and the lines and values that went without a
    reason.
    """

    outcome: Literal["written", "kept", "merged"]
    lines: tuple[str, ...]
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Touched:
    """What an edit in the store was about: every text of the record before it, its fields, whether
    the record went.
    """

    texts: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    gone: bool = False


THEIRS = (
    b"[new-00001] helpful=0 harmful=0 :: A colleague's.", b"a colleague's line", b"## Theirs", b"- theirs",
    b'{"id": "new", "context": "A colleague\'s."}',
)  # fmt: skip


def kind_of(format: str, path: Path) -> Format | None:
    """Return the outlet that writes a file of a format, `None` when nothing does."""
    fitting = [kind for kind in OUTLETS if kind.reader == format]
    return next(
        (kind for kind in fitting if kind.suffix == path.suffix.lower()), next(iter(fitting), None)
    )


def play(
    folder: Path,
    name: str,
    text: bytes,
    edit: Edit,
    chance: random.Random,
    format: str | None = None,
) -> Round:
    """Play one round in an empty folder; `format` is asked for when the file is not to be
    recognised.
    """
    path = folder / "files" / name
    path.parent.mkdir(parents=True)
    path.write_bytes(text)
    bench = open_workbench(
        folder / "store", profiles=folder, replaced=folder / "replaced", clock=lambda: NOW
    )
    plan = bench.importer.plan(path, format=format)
    bench.importer.carry_out(plan)
    kind = kind_of(plan.parsed.format, path)
    assert kind is not None
    touched = _edit(bench, path, edit, chance)
    before = path.read_bytes()
    book = next((b.id for b in bench.library.books.all()), None) if plan.parsed.playbooks else None
    outcome = _export(bench, kind, book, path)
    after = path.read_bytes()
    bench.close()
    lines = _lost_lines(before.decode(), after.decode(), touched)
    return Round(
        outcome, tuple(lines), tuple(_lost_values(path, before.decode(), after.decode(), touched))
    )


def _export(
    bench: Workbench, kind: Format, book: str | None, path: Path
) -> Literal["written", "kept", "merged"]:
    try:
        rendered = bench.exporter.render(kind.name, Choice(book), path)
    except (
        InvalidRecord
    ):  # a record that the format has no words for, such as a relation without its ends
        return "kept"
    preview = bench.exporter.preview(path, rendered.text, kind=kind)
    if preview.obstacle is None:
        bench.exporter.write(preview)
        return "written"
    if preview.merged is None:
        return "kept"
    bench.exporter.write_merged(preview)
    return "merged"


def _edit(bench: Workbench, path: Path, edit: Edit, chance: random.Random) -> Touched:
    if edit in ("add", "change", "remove", "add and cache"):
        _edit_file(path, edit, chance)
    if edit in ("cache", "add and cache"):
        shutil.rmtree(bench.library.folder / "cache", ignore_errors=True)
    if edit in ("content", "vote", "forget"):
        return _edit_store(bench, edit, chance)
    return Touched()


def _edit_file(path: Path, edit: Edit, chance: random.Random) -> None:
    """Let a colleague add, change or take out one line, wherever it is."""
    lines = path.read_bytes().split(b"\n")
    at = chance.randrange(len(lines))
    if edit == "remove":
        del lines[at]
    elif edit == "change":
        lines[at] = lines[at] + b" (a colleague's)"
    else:
        lines.insert(at, chance.choice(THEIRS))
    path.write_bytes(b"\n".join(lines))


def _edit_store(bench: Workbench, edit: Edit, chance: random.Random) -> Touched:
    memories = [
        m for m in bench.library.memories.all() if edit != "forget" or m.status != "archived"
    ]
    records: list[Memory | Bullet] = [*memories, *bench.library.bullets.all()]
    if not records:
        return Touched()
    old = chance.choice(records)
    texts = (old.id, old.content, old.summary if isinstance(old, Memory) else "")
    if edit == "forget" and isinstance(old, Memory):
        bench.stream.forget([old.id])
        return Touched(texts, GOING, gone=True)
    new: Memory | Bullet
    if edit == "forget" and isinstance(old, Bullet):
        new = replace(old, state="deprecated")
    elif edit == "content":
        new = replace(old, content="Something else entirely.")
    else:
        new = replace(old, helpful_votes=old.helpful_votes + 1)
    with bench.library.transaction("human", edit) as tx:
        tx.put(new)
    return Touched(
        texts, {"vote": ("helpful",), "forget": GOING}.get(edit, ()), gone=edit == "forget"
    )


# What is lost


def _lost_lines(before: str, after: str, touched: Touched) -> Iterator[str]:
    """Yield the lines that went although the edit was not about them.

    Of a record that went, the lines beside those that name it may go too, as far as nothing else
    stands between.
    """
    # The comma behind a JSON value says that another one follows; it is no part of it.
    # Lines that say nothing cannot be lost, and must not part the lines of a record that went.
    old, new = (
        [line.removesuffix(",") for line in text.split("\n") if line.strip(" \t\r,")]
        for text in (before, after)
    )
    pieces = _pieces(touched)
    for tag, start, end, here, there in difflib.SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        if tag not in ("replace", "delete"):
            continue
        run = old[start:end]
        mine = [
            any(piece in line for piece in (*pieces, *touched.fields)) or _says(line, touched)
            for line in run
        ]
        if touched.gone and any(mine):
            continue
        # A record that is forgotten notes in its metadata what it was: such a line only grew.
        grown = [
            touched.gone
            and line.endswith("}")
            and any(other.startswith(line[:-1]) for other in new[here:there])
            for line in run
        ]
        yield from (line for line, *fine in zip(run, mine, grown, strict=True) if not any(fine))


def _says(line: str, touched: Touched) -> bool:
    """Tell whether one line holds all words of the record: one that is written in parts, such as a
    relation.
    """
    return any(
        len(text.split()) > 1 and all(word in line for word in text.split())
        for text in touched.texts
    )


def _pieces(touched: Touched) -> tuple[str, ...]:
    found = [line.strip().removesuffix(",") for text in touched.texts for line in text.splitlines()]
    escaped = [
        json.dumps(piece, ensure_ascii=plain)[1:-1] for piece in found for plain in (True, False)
    ]
    escaped += [piece.replace('"', '""') for piece in found]  # as a table of CSV has it
    return tuple(dict.fromkeys(piece for piece in (*found, *escaped) if piece))


def _lost_values(path: Path, before: str, after: str, touched: Touched) -> Iterator[str]:
    """Yield the places of JSON and YAML values that went or changed although the edit was not about
    them.
    """
    suffix = path.suffix.lower()
    sides = _document(suffix, before), _document(suffix, after)
    if sides[0] is None:
        return
    if sides[1] is None:
        yield "the whole document"
        return
    old, new = (dict(_values(side)) for side in sides)
    own = _own_places(old, touched)
    if touched.gone:
        left = Counter((_unnumbered(at), repr(value)) for at, value in new.items())
        for at, value in sorted(old.items(), key=lambda item: _is_own(item[0], own, touched)):
            place = (_unnumbered(at), repr(value))
            if left[place] > 0:
                left[place] -= 1
            elif not _is_own(at, own, touched):
                yield "/".join(map(str, at))
        return
    for at, value in old.items():
        if (at not in new or new[at] != value) and not _is_own(at, own, touched):
            yield "/".join(map(str, at))


def _is_own(at: Where, own: tuple[Where, ...], touched: Touched) -> bool:
    """Tell whether a place is the edited record's, or says what the edit was about."""
    return any(at[: len(p)] == p for p in own) or any(
        field in str(part) for part in at for field in touched.fields
    )


def _own_places(values: dict[Where, Any], touched: Touched) -> tuple[Where, ...]:
    """Return the places of the objects that an edited record is: what holds its id or its text."""
    texts = [text for text in touched.texts if text]
    said = [(at, value.strip()) for at, value in values.items() if isinstance(value, str)]
    found = (
        at[: 1 if isinstance(at[0], int) else -1]
        for at, value in said
        if any(
            value == text.strip() or text in value or (len(value) >= LONG and value in text)
            for text in texts
        )
    )
    keys = (at[: at.index(text) + 1] for at in values for text in texts if text in at)
    return tuple(dict.fromkeys((*(p for p in found if p), *keys)))


def _unnumbered(at: Where) -> Where:
    return tuple("#" if isinstance(part, int) else part for part in at)


@cache
def _document(suffix: str, text: str) -> Any:
    """Return a file's JSON or YAML value, of JSON lines one for each; `None` when it is neither.

    Most edits of a file leave the same text; reading it as YAML is most of what a round takes.
    """
    readers: dict[str, Callable[[str], Any]] = {
        ".json": json.loads, ".af": json.loads, ".yaml": _yaml, ".yml": _yaml, ".jsonl": _json_lines,
    }  # fmt: skip
    try:
        return readers[suffix](text.removeprefix("\ufeff")) if suffix in readers else None
    except (ValueError, YAMLError):
        return None


def _json_lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def _yaml(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)


def _values(value: Any, at: Where = ()) -> Iterator[tuple[Where, Any]]:
    if isinstance(value, dict) and value:
        for key, part in value.items():
            yield from _values(part, (*at, str(key)))
    elif isinstance(value, list) and value:
        for place, part in enumerate(value):
            yield from _values(part, (*at, place))
    elif isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            inside = json.loads(value)  # a document within a text
        except ValueError:
            yield at, value
        else:
            yield from _values(inside, at)
    else:
        yield at, value
