"""Files of episodes and of patterns as JSON (source 004): told from other files, and taken in as any import is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workbench.bench.agents.episodes.files import bring, checked
from workbench.bench.agents.episodes.keeping import Episodes
from workbench.bench.agents.patterns.entry import entered
from workbench.bench.agents.patterns.intake import Intake, PatternIntake
from workbench.bench.context import Context
from workbench.bench.safety.gate import Gate
from workbench.bench.safety.texts import name_of
from workbench.core.agents.episodes.schema import read_episode
from workbench.core.agents.patterns.lifecycle import claimed
from workbench.core.agents.patterns.names import CATEGORIES
from workbench.core.agents.patterns.pattern import Pattern
from workbench.core.errors import InvalidRecord, UnreadableFile
from workbench.formats.episodes.files import SUFFIXES, Found, episodes_in, files_in, read_text

Kind = Literal["episodes", "patterns"]

_HEAD = 1 << 16
"""Bytes at the beginning of a file in which its kind shows."""

_MARKS = (b'"original_input"', b'"pattern_id"', b'"situation"')


@dataclass(frozen=True, slots=True)
class Experience:
    """What files hold of one kind: those that are new, and the ids of those that are there already."""

    kind: Kind
    name: str
    new: tuple[Found, ...]
    present: tuple[str, ...]
    patterns: tuple[Pattern, ...] = ()


def experience_in(context: Context, gate: Gate, path: Path) -> tuple[Experience, ...]:
    """Return what a file, or the files in and below a folder, hold of episodes and of patterns, one of each at most.

    Nothing for a file that is none of these. Raises `InvalidRecord` for one of them that is not as it must be, by
    file, place and field, and `UnreadableFile` for one in a folder that is no JSON.
    """
    found: dict[Kind, list[Found]] = {}
    try:
        files = files_in(path, hidden=False)
    except OSError:
        return ()  # whoever reads it as another kind of file says what is wrong with it
    for file in files:
        some = _found(file, in_folder=file != path)
        kind = _kind(some[0]) if some else None
        if kind is not None:
            found.setdefault(kind, []).extend(some)
    name = name_of(Path(path.resolve().name))
    reading = {"episodes": _episodes, "patterns": _patterns}
    return tuple(reading[kind](context, gate, some, name) for kind, some in sorted(found.items()))


def take(context: Context, experience: Experience) -> tuple[str, ...]:
    """Keep what is new, as one action; return the ids. What a person did not write is told from what they did."""
    if experience.kind == "patterns":
        intake = Intake(Path(experience.name), experience.patterns, experience.present)
        PatternIntake(context, Gate(records=context.library.records)).carry_out(intake)
        return tuple(pattern.id for pattern in experience.patterns)
    return tuple(one.episode.id for one in bring(context, experience.new, experience.name).stored)


def _found(path: Path, *, in_folder: bool) -> tuple[Found, ...]:
    """Return the JSON objects of a file that may hold some; nothing of any other file."""
    try:
        if path.suffix.lower() not in SUFFIXES or not path.is_file():
            return ()
        with path.open("rb") as file:
            head = file.read(_HEAD)
        return episodes_in(read_text(path), name_of(Path(path.name))) if any(mark in head for mark in _MARKS) else ()
    except OSError as error:
        if not in_folder:
            return ()  # whoever reads it as another kind of file says what is wrong with it
        raise UnreadableFile(f"{name_of(Path(path.name))} cannot be read.", "Nothing was stored.") from error
    except UnreadableFile:
        if not in_folder:
            return ()
        raise


def _kind(first: Found) -> Kind | None:
    doc = first.doc
    if not isinstance(doc, Mapping):
        return None
    task, outcome = doc.get("task"), doc.get("outcome")
    if isinstance(task, Mapping) and "original_input" in task and isinstance(outcome, Mapping):
        return "episodes"
    return "patterns" if isinstance(doc.get("pattern_id"), str) and doc.get("category") in CATEGORIES else None


def _episodes(context: Context, gate: Gate, found: Sequence[Found], name: str) -> Experience:
    del gate
    episodes = Episodes(context)
    bodies = [read_episode(one.doc) for one in checked(found, name)]
    known = {one.id for one in episodes.all()}
    new = tuple(one for one, body in zip(found, bodies, strict=True) if body.id not in known)
    return Experience("episodes", name, new, tuple(body.id for body in bodies if body.id in known))


def _patterns(context: Context, gate: Gate, found: Sequence[Found], name: str) -> Experience:
    made, now, table = list[Pattern](), context.now(), context.library.table(Pattern)
    for one in found:
        try:
            made.append(claimed(entered(one.doc, now, gate, _unnamed)))
        except InvalidRecord as error:
            raise InvalidRecord(f"{one.place}: {error.message}", error.hint) from error
    new = tuple({one.id: one for one in made if table.find(one.id) is None}.values())
    present = tuple(one.id for one in made if table.find(one.id) is not None)
    return Experience("patterns", name, tuple(found), present, new)


def _unnamed() -> str:
    raise InvalidRecord("pattern_id: is missing.", "Nothing was written.")
