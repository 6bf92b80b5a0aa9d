"""Files of episodes and of patterns (source 004, agent-playbook): told from others, and taken in as any import is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from workbench.core.agents.episodes.episode import read_episode
from workbench.core.agents.patterns.pattern import CATEGORIES, Pattern
from workbench.core.agents.patterns.statistics import claimed
from workbench.core.files.formats import detect
from workbench.core.record import InvalidRecord, UnreadableFile
from workbench.formats.episodes import SUFFIXES, Found, episodes_in, files_in, read_text
from workbench.formats.patterns import NAME as ENTRIES
from workbench.services.agents.episodes.files import bring, checked
from workbench.services.agents.episodes.keeping import Episodes
from workbench.services.agents.patterns.entry import entered
from workbench.services.agents.patterns.intake import Intake, PatternIntake
from workbench.services.context import Context
from workbench.services.safety.secret_filter import SecretFilter
from workbench.services.safety.texts import name_of

Kind = Literal["episodes", "patterns"]

_HEAD = 1 << 16
"""Bytes at the beginning of a file in which its kind shows."""

_MARKS = (b'"original_input"', b'"pattern_id"', b'"situation"')
_ENTRIES = b'"patterns"'


@dataclass(frozen=True, slots=True)
class ExperienceFile:
    """What files hold of one kind: those that are new, and the ids of those that are there already.

    `problems` say what cannot be read of `skipped` records; `files` hold them all.
    """

    kind: Kind
    name: str
    new: tuple[Found, ...]
    present: tuple[str, ...]
    patterns: tuple[Pattern, ...] = ()
    problems: tuple[str, ...] = ()
    skipped: int = 0
    files: tuple[Path, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """What each new one is, as the files have it: a text that is not masked yet."""
        if self.kind == "patterns":
            return tuple(f"{one.id}  {one.status}  {one.name}" for one in self.patterns)
        bodies = ((one.place, read_episode(one.doc)) for one in self.new)
        return tuple(f"{body.id or place}  {body.outcome.lower()}  {body.task}" for place, body in bodies)


def experience_in(context: Context, gate: SecretFilter, path: Path) -> tuple[ExperienceFile, ...]:
    """Return what a file, or the files in and below a folder, hold of episodes and of patterns, one of each at most.

    Nothing for a file that is none of these. Raises `InvalidRecord` for one of them that is not as it must be, by
    file, place and field, and `UnreadableFile` for one in a folder that is no JSON.
    """
    found: dict[Kind, list[Found]] = {}
    entries, holding = list[Path](), dict[Kind, list[Path]]()
    try:
        files = files_in(path, hidden=False)
    except OSError:
        return ()  # whoever reads it as another kind of file says what is wrong with it
    for file in files:
        head = _head(file, in_folder=file != path)
        some = _found(file, head, in_folder=file != path)
        kind = _kind(some[0]) if some else None
        if kind is not None:
            found.setdefault(kind, []).extend(some)
            holding.setdefault(kind, []).append(file)
        elif _ENTRIES in head and _is_of_entries(file, head):
            entries.append(file)
            holding.setdefault("patterns", []).append(file)
    name, made = name_of(Path(path.resolve().name)), list[ExperienceFile]()
    if "episodes" in found:
        made.append(_episodes(context, found["episodes"], name))
    if "patterns" in found or entries:
        made.append(_patterns(context, gate, found.get("patterns", ()), entries, name))
    return tuple(replace(one, files=tuple(holding[one.kind])) for one in made)


def take(context: Context, experience: ExperienceFile) -> tuple[str, ...]:
    """Keep what is new, as one action; return the ids. What a person did not write is told from what they did."""
    if experience.kind == "patterns":
        intake = Intake(Path(experience.name), experience.patterns, experience.present)
        PatternIntake(context, SecretFilter()).carry_out(intake)
        return tuple(pattern.id for pattern in experience.patterns)
    return tuple(one.episode.id for one in bring(context, experience.new, experience.name).stored)


def _head(path: Path, *, in_folder: bool) -> bytes:
    """Return how a file begins that may hold some; nothing of any other file."""
    try:
        if path.suffix.lower() not in SUFFIXES or not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(_HEAD)
    except OSError as error:
        if not in_folder:
            return b""  # whoever reads it as another kind of file says what is wrong with it
        raise UnreadableFile(f"{name_of(Path(path.name))} cannot be read.", "Nothing was stored.") from error


def _found(path: Path, head: bytes, *, in_folder: bool) -> tuple[Found, ...]:
    """Return the JSON objects of a file that may hold some by how it begins."""
    if not any(mark in head for mark in _MARKS):
        return ()
    try:
        return episodes_in(read_text(path), name_of(Path(path.name)))
    except UnreadableFile:
        if in_folder:
            raise
        return ()


def _is_of_entries(path: Path, head: bytes) -> bool:
    """Tell whether a file is most likely one of agent-playbook's, of patterns by name."""
    likely = detect(path, head.decode("utf-8", "ignore"))
    return bool(likely) and likely[0].format == ENTRIES


def _kind(first: Found) -> Kind | None:
    doc = first.doc
    if not isinstance(doc, Mapping):
        return None
    task, outcome = doc.get("task"), doc.get("outcome")
    if isinstance(task, Mapping) and "original_input" in task and isinstance(outcome, Mapping):
        return "episodes"
    return "patterns" if isinstance(doc.get("pattern_id"), str) and doc.get("category") in CATEGORIES else None


def _episodes(context: Context, found: Sequence[Found], name: str) -> ExperienceFile:
    episodes = Episodes(context)
    bodies = [read_episode(one.doc) for one in checked(found, name)]
    known = {one.id for one in episodes.all()}
    new = tuple(one for one, body in zip(found, bodies, strict=True) if body.id not in known)
    return ExperienceFile("episodes", name, new, tuple(body.id for body in bodies if body.id in known))


def _patterns(
    context: Context, gate: SecretFilter, found: Sequence[Found], entries: Sequence[Path], name: str
) -> ExperienceFile:
    """Return the patterns of files as source 004 has them, and of `entries`, the files of agent-playbook."""
    made, now, table = list[Pattern](), context.now(), context.library.table(Pattern)
    for one in found:
        try:
            made.append(claimed(entered(one.doc, now, gate, _unnamed)))
        except InvalidRecord as error:
            raise InvalidRecord(f"{one.place}: {error.message}", error.hint) from error
    intake = PatternIntake(context, gate)
    plans = [intake.plan(file) for file in entries]
    made += [pattern for plan in plans for pattern in plan.new]
    there = [id for plan in plans for id in plan.present]
    new = tuple({one.id: one for one in made if table.find(one.id) is None}.values())
    present = tuple(dict.fromkeys((*(one.id for one in made if table.find(one.id) is not None), *there)))
    problems = [str(issue) for plan in plans for issue in plan.issues]
    problems += [f"{id}: {why}" for plan in plans for id, why in plan.refused]
    skipped = sum(issue.records for plan in plans for issue in plan.issues) + sum(len(plan.refused) for plan in plans)
    return ExperienceFile("patterns", name, tuple(found), present, new, tuple(problems), skipped)


def _unnamed() -> str:
    raise InvalidRecord("pattern_id: is missing.", "Nothing was written.")
