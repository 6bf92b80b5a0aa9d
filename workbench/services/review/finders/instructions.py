"""Records that were once made of instruction files, which are documents now: a question for each file."""

from collections import defaultdict
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import PurePath

from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import FILE_KEY, Memory
from workbench.core.text import counted
from workbench.formats.claude_memory.topic import PREFIX
from workbench.formats.instructions import instructions
from workbench.services.context import Context
from workbench.services.duplicates.plan import WORKBENCH
from workbench.services.review.finders.finder import Cancelled, Finder, Parts

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
