"""A finder: works out, from a store and what lies around it, what waits for a person without being
stored.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, NamedTuple, Protocol

from workbench.core.agents.episodes.episode import Episode, EpisodeBody
from workbench.core.agents.patterns.matching import Likeness, PatternGroup, pattern_groups
from workbench.core.agents.patterns.pattern import Pattern
from workbench.core.agents.patterns.statistics import SUPPORT, Case, Mined, features_of, mined
from workbench.core.duplicates.groups import text_mark
from workbench.core.record import UnreadableFile, WorkbenchError, as_object
from workbench.core.review.proposal import Proposal
from workbench.core.runtime import Cancelled
from workbench.core.stream.memory import FILE_KEY, Memory
from workbench.core.text import counted, one_line
from workbench.formats import instructions
from workbench.formats.claude_memory import PREFIX
from workbench.safety.scanning import scan
from workbench.services.claims import KIND
from workbench.services.context import Context
from workbench.services.duplicates.plan import WORKBENCH, merge_proposal
from workbench.services.files.folders import place_of
from workbench.services.files.importing import ImportPlan, replacement_said, said
from workbench.services.files.overwriting import BLOCK, FileChange, changes
from workbench.services.review.kinds import mark_of, marks_of, may_go
from workbench.services.review.review import Review
from workbench.services.safety.suspicion import FLAGS
from workbench.services.safety.texts import body_of
from workbench.store.blobs import BlobProblem

if TYPE_CHECKING:
    from workbench.services.agents.documents.documents import Documents
    from workbench.services.claims import StillTrue
    from workbench.services.duplicates.memories import Deduplication
    from workbench.services.files.importing import Importer
    from workbench.services.health.upkeep import Upkeep
    from workbench.services.safety.trust import Trust
    from workbench.services.tuning.retriever import Retriever


class Parts(Protocol):
    """What a finder may ask of an open store's bench."""

    context: Context
    upkeep: "Upkeep"
    deduplication: "Deduplication"
    retriever: "Retriever"
    importer: "Importer"
    documents: "Documents"
    still_true: "StillTrue"
    trust: "Trust"


class Finder(NamedTuple):
    """Works out proposals of one kind or several; `find` reads only, on any thread, and raises
    `WorkbenchError`.

    A `searching` one looks at every memory: in a large store it waits until a person asks for it.
    One that `needs_model` waits until that is loaded, and one `by_hand` always until somebody asks.
    Each proposal has the same id as long as its question is the same. `stamp` tells cheaply whether
    anything that it looks at is other than the last time; while it is not, nobody looks.
    """

    kinds: tuple[str, ...]
    find: Callable[[Parts, Cancelled], tuple[Proposal, ...]]
    searching: bool = True
    needs_model: bool = False
    by_hand: bool = False
    stamp: Callable[[Parts], str] | None = None


# Memories that say the same, as merges that nobody proposed yet.


def _find_copies(parts: Parts, cancelled: Cancelled) -> tuple[Proposal, ...]:
    deduplication, now = parts.deduplication, parts.context.now()
    plan = deduplication.standing(deduplication.plan(None, None, cancelled))
    return (*(merge_proposal(group, now) for group in plan.groups), *deduplication.two_sided(plan))


LARGEST = 4_000_000
"""Bytes of a file that is read for this; a larger one is only named."""

_LINES = 60
_CELLS = 300
_TOO_LARGE = "too large to be shown here"


def _find_files(parts: Parts, cancelled: Cancelled) -> tuple[Proposal, ...]:
    found = list[Proposal]()
    if not parts.context.library.standing.trusted:
        return ()  # whoever wrote the store chose which files of this machine it names
    for place, changed in _places(parts, changes(parts.context)).items():
        if cancelled():
            break
        found.append(_changed_files(parts, place, changed))
    return tuple(found)


def _places(parts: Parts, changed: Sequence[FileChange]) -> dict[Path, list[FileChange]]:
    """Return what changed by what is imported to take it over: the file, or the folder that a note
    was read with.
    """
    found: defaultdict[Path, list[FileChange]] = defaultdict(list)
    for one in changed:
        if one.format != BLOCK:  # what stands around a managed block was never the store's
            found[place_of(one.path, one.format, parts.context.library)].append(one)
    return found


def _changed_files(parts: Parts, place: Path, changed: Sequence[FileChange]) -> Proposal:
    paths = [one.path for one in changed]
    gone = [one.path for one in changed if one.what == "gone"]
    operation: dict[str, object] = {
        "path": str(place), "files": [str(path) for path in paths], "gone": [str(path) for path in gone],
        "mark": mark_of(paths), "lines": [],
    }  # fmt: skip
    reasons, flags = list[str](), list[str]()
    if len(gone) < len(paths):
        try:
            plan = _plan(parts, place, [path for path in paths if path not in gone])
        except WorkbenchError as error:
            flags.append(one_line(str(error), _CELLS))
        else:
            operation["lines"] = _said(plan)
            reasons.append(_counted(plan))
    if gone:
        reasons.append(
            f"{counted(len(gone), 'file')} deleted: approving stops watching for this; imported records stay"
        )
    name = text_mark(str(place), 4)
    return Proposal(
        id=f"file-{name}-{operation['mark']}", kind="file", actor=WORKBENCH,
        title=_title(place, len(paths), len(gone)), created_at=parts.context.now(),
        flags=tuple(flags), reasons=tuple(reasons), operation=operation,
    )  # fmt: skip


def _plan(parts: Parts, place: Path, files: Sequence[Path]) -> ImportPlan:
    for file in files:
        if file.is_file() and file.stat().st_size > LARGEST:
            hint = f"`workbench import {place.name} --theirs` imports it."
            raise WorkbenchError(f"{file.name} is {_TOO_LARGE}.", hint)
    return parts.importer.plan(place, theirs=True, only=() if place in files else files)


def _title(place: Path, files: int, gone: int) -> str:
    if files == gone:
        return (
            f"{place.name} was deleted"
            if files == 1
            else f"{files} files of {place.name} were deleted"
        )
    if files == 1 and place.suffix:
        return place.name
    return f"{place.name}: {counted(files, 'file')} changed"


def _counted(plan: ImportPlan) -> str:
    replaced = len(plan.replaced)
    new = len(plan.records) - replaced
    differ = counted(replaced, "record differs", "records differ") if replaced else ""
    told = ", ".join(filter(None, (differ, f"{new:,} new" if new else "")))
    return told or "no record differs: approving only marks the file as seen"


def _said(plan: ImportPlan) -> list[str]:
    lines = [line for pair in plan.replaced for line in replacement_said(*pair)]
    known = {id(new) for _, new in plan.replaced}
    lines += [f"+ {said(record)}" for record in plan.records if id(record) not in known]
    shown = [one_line(line[: 2 * _CELLS], _CELLS) for line in lines[:_LINES]]
    return [*shown, f"… and {len(lines) - _LINES} more"] if len(lines) > _LINES else shown


def _stamp(parts: Parts) -> str:
    """Tell the files that the store knows as they look, without reading them; not while it is not
    trusted.
    """
    if not parts.context.library.standing.trusted:
        return "not trusted"
    states = sorted(parts.context.library.files.all(), key=lambda one: one.id)
    known = "\n".join(f"{state.id} {state.sha256}" for state in states)
    return f"{mark_of(Path(state.id) for state in states)} {blake2b(known.encode(errors='replace')).hexdigest()}"


# Memories that name what is not in the working tree any more.


def _find_stale(parts: Parts, cancelled: Cancelled) -> tuple[Proposal, ...]:
    """Bullets are asked about as the Curator's are, once somebody put what was found into Review."""
    folder = parts.still_true.folder
    if folder is None or not folder.is_dir():
        return ()
    found = parts.still_true.plan(folder, cancelled).found
    return tuple(one.proposal for one in found if one.proposal.kind == KIND)


# What came from elsewhere and nobody has looked at yet: lines of the store, and documents that are
# followed.


def _store(parts: Parts, _: Cancelled) -> tuple[Proposal, ...]:
    library = parts.context.library
    if library.standing.trusted:
        return ()
    title = "Lines of this store that came from elsewhere"
    id, now = f"trust-{library.revision}", parts.context.now()
    return (Proposal(id, "trust", WORKBENCH, title, now, importance=10.0),)


def _documents(parts: Parts, cancelled: Cancelled) -> tuple[Proposal, ...]:
    folders, _ = parts.documents.folders()
    found = []
    for folder in folders:
        if cancelled():
            break
        try:
            opened = parts.documents.opened(folder.root)
        except UnreadableFile:
            continue  # it went meanwhile
        changes = opened.changes
        if changes.are_none:
            continue
        parted = (("new", changes.new), ("changed", changes.changed), ("gone", changes.gone))
        reasons = [f"{what}: {path}" for what, paths in parted for path in paths]
        reasons += [f"{changes.messages:,} bytes of messages"] if changes.messages else []
        marks = "\n".join(
            f"{path} {mark.sha256} {mark.size}" for path, mark in sorted(changes.marks.items())
        )
        name = text_mark(f"{folder.root}\n{marks}")
        title = f"{folder.name}: {counted(len(reasons), 'document')} you have not reviewed"
        found.append(Proposal(
            f"documents-{name}", "documents", WORKBENCH, title, parts.context.now(), reasons=tuple(reasons[:_NAMED]),
            operation={"path": str(folder.root)},
        ))  # fmt: skip
    return tuple(found)


_NAMED = 20
"""Documents of one folder that are named at most."""


# Records that were once made of instruction files, which are documents now: a question for each
# file.


_IMPORT = "import:"


def _is_of_file(memory: Memory) -> bool:
    """Tell whether a reader noted how the record stands in its file, as none did of the statements
    of a document.
    """
    return "format" in as_object(memory.metadata.get(FILE_KEY))


def _find_instructions(parts: Parts, cancelled: Cancelled) -> tuple[Proposal, ...]:
    made: defaultdict[str, list[Memory]] = defaultdict(list)
    revisions: dict[str, int] = {}
    for memory, file, revision in _taken_in(parts.context, cancelled):
        made[file].append(memory)
        revisions[file] = max(revision, revisions.get(file, 0))
    found = (_of_file(parts.context, file, made[file], revisions[file]) for file in sorted(made))
    return tuple(one for one in found if one is not None)


def _taken_in(context: Context, cancelled: Cancelled) -> list[tuple[Memory, str, int]]:
    """Return the living records that an import of an instruction file made, the file's name, and
    the revision.
    """
    living = {
        memory.id: memory
        for memory in context.library.memories.all()
        if memory.id.startswith(f"{PREFIX}-") and memory.status not in ("archived", "candidate")
        and not _is_of_file(memory)
    }  # fmt: skip
    found = []
    for entry, id, change in context.library.past.changes_of("memories", living) if living else ():
        if cancelled():
            break
        if change.op != "insert" or id not in living:
            continue
        memory, name = living.pop(id), entry.actor.removeprefix(_IMPORT)
        if entry.actor.startswith(_IMPORT) and instructions.detect("", name):
            found.append((memory, name, entry.rev))
    return found


def _of_file(context: Context, file: str, memories: list[Memory], revision: int) -> Proposal | None:
    going = sorted((memory for memory in memories if may_go(memory)), key=lambda one: one.id)
    if not going:
        return None
    unvoted = sum(not (memory.helpful_votes or memory.harmful_votes) for memory in going)
    stay = len(memories) - len(going)
    reasons = [
        f"{PurePath(file).name} is now loaded in full by agents, so they read each of these twice"
    ]
    if stay:
        reasons.append(
            f"{stay} {'stays' if stay == 1 else 'stay'}: pinned, promoted or voted helpful"
        )
    many = counted(len(going), "record")
    name = text_mark(file, 4)
    return Proposal(
        f"instructions-{name}-{revision}", "instructions", WORKBENCH, f"{many} from {file}, {unvoted:,} never voted",
        context.now(), evidence=tuple(memory.id for memory in going), reasons=tuple(reasons),
        operation={"file": file},
    )  # fmt: skip


MINED = "mined"
"""The key of a pattern's metadata that says what it was made of."""

MOST = 2_000
"""Episodes that are looked at, the latest ones."""

_SHOWN = 12
_TASK = 200


def recurring(context: Context, cancelled: Cancelled) -> tuple[Proposal, ...]:
    """Return the patterns that recur in the latest episodes and are not among the patterns, as
    proposals.
    """
    living = [one for one in context.library.table(Episode).all() if one.status != "deleted"]
    if len(living) < SUPPORT:
        return ()
    living.sort(key=lambda one: (one.at, one.id), reverse=True)
    bodies: dict[str, EpisodeBody] = {}
    for episode in living[:MOST]:
        if cancelled():
            return ()
        try:
            bodies[episode.id] = EpisodeBody(body_of(context.library, episode.hash))
        except BlobProblem:
            continue  # the doctor names it
    proven = (one for one in living[:MOST] if one.id in bodies and not bodies[one.id].is_unproven)
    runs = [_run(one, bodies[one.id]) for one in proven]
    known = {pattern.metadata.get(MINED) for pattern in context.library.table(Pattern).all()}
    return tuple(_mined(context, one, bodies) for one in mined(runs) if _key(one) not in known)


def _run(episode: Episode, body: EpisodeBody) -> Case:
    features = features_of(
        body.texts("metadata.strategies_applied"), body.texts("metadata.tools_used")
    )
    return Case(episode.id, episode.domain, episode.type, episode.outcome == "SUCCESS", features)


def _mined(context: Context, one: Mined, bodies: Mapping[str, EpisodeBody]) -> Proposal:
    doc = _doc(one)
    texts = (str(doc["name"]), str(doc["description"]))
    kinds = {finding.kind for text in texts for finding in scan(text)}
    name = text_mark(_key(one))
    # Asked again once there is twice as much to go by.
    occasion = int(math.log2(one.support / SUPPORT))
    shown = [(id, "✓") for id in one.good] + [(id, "✗") for id in one.bad]
    episodes = [
        [sign, id, one_line(bodies[id].task[: 2 * _TASK], _TASK)] for id, sign in shown[:_SHOWN]
    ]
    return Proposal(
        f"pattern-{name}-{occasion}", "pattern", WORKBENCH, f"{doc['name']}: {_numbers(one)}", context.now(),
        flags=tuple(word for kind, word in FLAGS.items() if kind in kinds), importance=10 * (1 - one.p_value) - 2,
        reasons=(f"Fisher's exact test: p = {one.p_value:.2g}, corrected over {counted(one.compared, 'comparison')}",),
        operation={"pattern": doc, "episodes": episodes, "more": max(0, len(shown) - _SHOWN)},
    )  # fmt: skip


def _doc(one: Mined) -> dict[str, object]:
    """Return the pattern as JSON (source 004, section 3.3)."""
    holds, against = (one.good, one.bad) if one.helps else (one.bad, one.good)
    what = one.feature.text
    said = f"Episodes with it: {_numbers(one)} it, in {_place(one)}."
    return {
        "name": one_line(f"{what} in {_place(one)}" if one.helps else f"{what} fails in {_place(one)}", 120),
        "category": one.category,
        "description": f"{what}. {said}",
        "applicability": {
            "problem_types": [one.type] if one.type else [],
            "task_features": {"domain": [one.domain] if one.domain else []},
        },
        "content": {"type": "strategy", "strategy": {"approach": what if one.helps else f"Without {what}"}},
        "evidence": {
            "supporting_episodes": list(holds), "counter_episodes": list(against), "mined_from": [*holds, *against],
            "statistical_significance": one.p_value,
        },
        "metadata": {MINED: _key(one)},
    }  # fmt: skip


def _numbers(one: Mined) -> str:
    return f"{len(one.good)} of {one.support} succeeded, {one.others_good} of {one.others} without"


def _place(one: Mined) -> str:
    return "/".join(part for part in (one.domain, one.type) if part)


def _key(one: Mined) -> str:
    return " | ".join((one.domain, one.type, one.feature.kind, one.feature.text))


# Patterns that say the same, as merges that nobody made yet.


MERGES = "pattern-merge"

_LINE = 300


def merges(context: Context, patterns: Iterable[Pattern]) -> tuple[Proposal, ...]:
    """Return what merging the patterns that say the same would ask, a proposal for each group,
    decided or not.
    """
    return tuple(_pattern_merge(context, group) for group in pattern_groups(patterns))


def _pattern_merge(context: Context, group: PatternGroup) -> Proposal:
    patterns = group.patterns
    ids, texts = [one.id for one in patterns], marks_of(patterns)
    name = text_mark("\n".join((*ids, *texts)))
    return Proposal(
        f"{MERGES}-{name}", MERGES, WORKBENCH, one_line(group.stands.name, _LINE), context.now(), texts=texts,
        importance=10 * max(one.score for one in group.others) - 3,
        reasons=tuple(map(_likeness, group.others)),
        operation={"patterns": ids, "lines": [_pattern_line(one) for one in patterns]},
    )  # fmt: skip


def _likeness(one: Likeness) -> str:
    parts = ", ".join(f"{name} {part:.0%}" for name, part in one.parts.items())
    return f"{one.pattern.id} is {one.score:.0%} similar: {parts}"


def _pattern_line(one: Pattern) -> str:
    where = f"{one.category}, {one.status.replace('_', ' ')}, {one.usage_count:,}× used"
    return one_line(f"{one.id}: {one.name[:_LINE]} — {one.line[: 2 * _LINE]} ({where})", 3 * _LINE)


FINDERS = (
    Finder(("merge",), _find_copies, needs_model=True),
    Finder(
        ("prune", "confirm", "reconfirm", "replaces", "skill"),
        # Contradictions are looked for once the model is there.
        lambda parts, _: parts.upkeep.plan(search=parts.retriever.ready).proposals,
    ),
    Finder(("pattern",), lambda parts, cancelled: recurring(parts.context, cancelled)),
    Finder(("stale",), _find_stale, by_hand=True),
    Finder(("file",), _find_files, searching=False, stamp=_stamp),
    Finder(("trust",), _store, searching=False),
    Finder(("documents",), _documents, searching=False),
    Finder(("instructions",), _find_instructions),
    Finder(
        (MERGES,),
        lambda parts, _: merges(parts.context, parts.context.library.table(Pattern).all()),
    ),
)
"""What works out proposals, in the order in which they look."""


# Working out what waits without being stored, finder by finder, and handing it to Review.


SMALL = 2_000
"""Memories up to which all of them are looked at unasked."""


class WorkedOut(NamedTuple):
    """What came of a look: the kinds that were not looked for (`unasked`: the store is large;
    `unready`: the model is not loaded yet), and why a finder failed, by the kinds it was to find.
    """

    unasked: tuple[str, ...] = ()
    unready: tuple[str, ...] = ()
    problems: tuple[tuple[str, str], ...] = ()


class SuggestionFinder:
    """Lets finders look, away from the keyboard; writes nothing."""

    def __init__(self, parts: Parts, review: Review) -> None:
        self._parts = parts
        self._review = review
        self._stamps: dict[str, str] = {}

    def run(
        self,
        cancelled: Cancelled,
        *,
        only: Collection[str] = (),
        asked: bool = False,
        load: bool = False,
        quick: bool = False,
    ) -> WorkedOut:
        """Work out the kinds `only` (all of them when empty), and let Review list what is found.

        Somebody `asked` for what looks at every memory of a large store; `load` loads the model
        where it is needed; a `quick` look passes over what looks at every memory in any store.
        """
        unasked, unready, problems = list[str](), list[str](), list[tuple[str, str]]()
        large = len(self._parts.context.library.memories) > SMALL
        for finder in FINDERS:
            if cancelled() or (only and not any(kind in only for kind in finder.kinds)):
                continue
            if (finder.searching and quick) or (finder.by_hand and not asked):
                continue
            if finder.searching and large and not asked:
                unasked += finder.kinds
            elif finder.needs_model and not load and not self._parts.retriever.ready:
                unready += finder.kinds
            else:
                problems += self._look(finder, cancelled, again=asked)
        return WorkedOut(tuple(unasked), tuple(unready), tuple(problems))

    def take(self, kind: str, found: Iterable[Proposal]) -> None:
        """Let Review list what somebody else worked out of a kind, and of those that are found
        together with it.
        """
        self._review.take_found(next(one.kinds[0] for one in FINDERS if kind in one.kinds), found)

    def kind_of(self, id: str) -> str:
        """Return the kind of a proposal of this name that could be worked out; empty for none."""
        names = (kind for finder in FINDERS for kind in finder.kinds if id.startswith(f"{kind}-"))
        return max(names, key=len, default="")

    def _look(self, finder: Finder, cancelled: Cancelled, *, again: bool) -> list[tuple[str, str]]:
        """Let a finder look unless all is as it was the last time, or somebody wants it `again`."""
        name, found, problems = finder.kinds[0], tuple[Proposal, ...](), list[tuple[str, str]]()
        stamp = finder.stamp(self._parts) if finder.stamp is not None else ""
        if stamp and stamp == self._stamps.get(name) and not again:
            return problems
        try:
            found = finder.find(self._parts, cancelled)
        except WorkbenchError as error:
            problems.append((name, str(error)))
        if not cancelled():
            self._stamps[name] = stamp
            self._review.take_found(name, found)
        return problems
