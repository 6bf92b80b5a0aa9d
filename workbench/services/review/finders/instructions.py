"""Records that were once made of instruction files, which are documents now: a question for each file."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import PurePath

from workbench.core.agents.patterns.duplicates import Likeness, PatternGroup, pattern_groups
from workbench.core.agents.patterns.pattern import Pattern
from workbench.core.duplicates.groups import text_mark
from workbench.core.review.proposal import Proposal
from workbench.core.runtime import Cancelled
from workbench.core.stream.memory import FILE_KEY, Memory
from workbench.core.text import counted, one_line
from workbench.formats import instructions
from workbench.formats.claude_memory import PREFIX
from workbench.services.context import Context
from workbench.services.duplicates.plan import WORKBENCH
from workbench.services.review.finders.finder import Finder, Parts

_IMPORT = "import:"


def may_go(memory: Memory) -> bool:
    """Tell whether nobody stands by a record so far that it is to outlive its file: not pinned, placed or praised."""
    return not (memory.pinned or memory.status == "promoted" or memory.helpful_votes > 0)


def _is_of_file(memory: Memory) -> bool:
    """Tell whether a reader noted how the record stands in its file, as none did of the statements of a document."""
    part = memory.metadata.get(FILE_KEY)
    return isinstance(part, Mapping) and "format" in part


def _find(parts: Parts, cancelled: Cancelled) -> tuple[Proposal, ...]:
    made: defaultdict[str, list[Memory]] = defaultdict(list)
    revisions: dict[str, int] = {}
    for memory, file, revision in _taken_in(parts.context, cancelled):
        made[file].append(memory)
        revisions[file] = max(revision, revisions.get(file, 0))
    found = (_proposal(parts.context, file, made[file], revisions[file]) for file in sorted(made))
    return tuple(one for one in found if one is not None)


def _taken_in(context: Context, cancelled: Cancelled) -> list[tuple[Memory, str, int]]:
    """Return the living records that an import of an instruction file made, the file's name, and the revision."""
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
        if entry.actor.startswith(_IMPORT) and instructions.detect("", name).confidence > 0:
            found.append((memory, name, entry.rev))
    return found


def _proposal(context: Context, file: str, memories: list[Memory], revision: int) -> Proposal | None:
    going = sorted((memory for memory in memories if may_go(memory)), key=lambda one: one.id)
    if not going:
        return None
    unvoted = sum(not (memory.helpful_votes or memory.harmful_votes) for memory in going)
    stay = len(memories) - len(going)
    reasons = [f"{PurePath(file).name} is a document now: agents load it whole, so they read each of these twice"]
    if stay:
        reasons.append(f"{stay} {'stays' if stay == 1 else 'stay'}: pinned, promoted or voted helpful")
    many = counted(len(going), "record")
    name = blake2b(file.encode("utf-8", "replace"), digest_size=4).hexdigest()
    return Proposal(
        f"instructions-{name}-{revision}", "instructions", WORKBENCH, f"{many} from {file}, {unvoted:,} never voted",
        context.now(), evidence=tuple(memory.id for memory in going), reasons=tuple(reasons),
        operation={"file": file},
    )  # fmt: skip


INSTRUCTIONS = Finder(_find)


# Patterns that say the same, as merges that nobody made yet.


KIND = "pattern-merge"

_CELLS = 300


def _find_pattern_merges(parts: Parts, cancelled: Cancelled) -> tuple[Proposal, ...]:
    del cancelled
    return merges(parts.context, parts.context.library.table(Pattern).all())


def merges(context: Context, patterns: Iterable[Pattern]) -> tuple[Proposal, ...]:
    """Return what merging the patterns that say the same would ask, a proposal for each group, decided or not."""
    return tuple(_pattern_merge(context, group) for group in pattern_groups(patterns))


def marks_of(patterns: Sequence[Pattern]) -> tuple[str, ...]:
    """Return what tells the texts of patterns: an answer holds as long as these are the same."""
    return tuple(text_mark(pattern.content) for pattern in patterns)


def _pattern_merge(context: Context, group: PatternGroup) -> Proposal:
    patterns = group.patterns
    ids, texts = [one.id for one in patterns], marks_of(patterns)
    name = blake2b("\n".join((*ids, *texts)).encode("utf-8", "replace"), digest_size=8).hexdigest()
    return Proposal(
        f"{KIND}-{name}", KIND, WORKBENCH, one_line(group.stands.name, _CELLS), context.now(), texts=texts,
        importance=10 * max(one.score for one in group.others) - 3,
        reasons=tuple(map(_likeness, group.others)),
        operation={"patterns": ids, "lines": [_said(one) for one in patterns]},
    )  # fmt: skip


def _likeness(one: Likeness) -> str:
    parts = ", ".join(f"{name} {part:.0%}" for name, part in one.parts.items())
    return f"{one.pattern.id} is {one.score:.0%} alike: {parts}"


def _said(one: Pattern) -> str:
    where = f"{one.category}, {one.status.replace('_', ' ')}, {one.usage_count:,}× used"
    return one_line(f"{one.id}: {one.name[:_CELLS]} — {one.line[: 2 * _CELLS]} ({where})", 3 * _CELLS)


PATTERNS = Finder(_find_pattern_merges)
