"""What goes into an exported file: which memories or bullets, and what the format makes of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.bench.ace_remarks import ace_remarks
from workbench.bench.context import Context
from workbench.bench.playbook import Playbooks
from workbench.bench.query_export import qrels
from workbench.bench.querysets import judged_queries
from workbench.core.errors import UnknownRecord, UnreadableFile, WorkbenchError
from workbench.core.lifecycle import ARCHIVED_FROM
from workbench.core.memory import Memory
from workbench.core.playbook import Dialect, Playbook
from workbench.formats import ace, registry, trec
from workbench.formats.model import Parsed, ReadContext
from workbench.formats.outlets import Outlet, outlet
from workbench.formats.records import file_part

NOTHING = "Nothing was written."


@dataclass(frozen=True, slots=True)
class Choice:
    """What a person wants in the file.

    `book` is a playbook's name (`None`: memories, where the format leaves the choice), `section` a part of a
    section's name, `min_helpful` the least number of helpful marks, `memories` the memories a filter found
    (`None`: no filter was given), `dialect` how ACE text is written (`None`: as it was read).
    """

    book: str | None = None
    section: str = ""
    min_helpful: int | None = None
    memories: tuple[Memory, ...] | None = None
    dialect: Dialect | None = None


@dataclass(frozen=True, slots=True)
class Rendered:
    """The exact text, the outlet that made it, what it was made of, and what a person should know about it."""

    outlet: Outlet
    text: str
    parsed: Parsed
    remarks: tuple[str, ...] = ()


def render(
    context: Context, playbooks: Playbooks, format: str, choice: Choice, original: str | None = None
) -> Rendered:
    """Return the text of a file; `original` is the text it replaces, whose own lines stay where they can.

    Raises `WorkbenchError` for a format, playbook or section that is not there.
    """
    kind = outlet(format)
    mine = original is not None and (kind.inside or (kind.reads and _is_of(kind, original)))
    own = original if mine else None
    if kind.holds == "queries":
        parsed, remarks = _queries(context, kind, choice), list[str]()
    elif kind.holds == "playbook" or (kind.holds == "either" and choice.book is not None):
        parsed, remarks = _book(playbooks, kind, choice)
    else:
        parsed, remarks = _memories(context, kind, choice, own)
    return Rendered(kind, _text(context, kind, parsed, choice, own), parsed, tuple(remarks))


def _text(context: Context, kind: Outlet, parsed: Parsed, choice: Choice, own: str | None) -> str:
    if kind.name == ace.NAME:
        return ace.write_playbook(parsed.playbooks[0], dialect=choice.dialect)
    if kind.name == trec.QRELS_FORMAT.name:
        return qrels(context)
    # Learning entries carry everything that is known of a memory: they are written anew, not woven into a file.
    return kind.write(parsed, None if kind.name == "lifecycle" else own)


def _is_of(kind: Outlet, text: str) -> bool:
    return any(found.format == kind.name for found in registry.detect("", text))


def _queries(context: Context, kind: Outlet, choice: Choice) -> Parsed:
    if choice.section or choice.min_helpful is not None or choice.memories is not None:
        raise WorkbenchError(f"{kind.title}: judgments are written whole.", f"{NOTHING} Leave the choice of records.")
    return Parsed(kind.name, queries=tuple(judged_queries(context)))


def _book(playbooks: Playbooks, kind: Outlet, choice: Choice) -> tuple[Parsed, list[str]]:
    if choice.memories is not None:
        raise WorkbenchError(f"--filter does not go with --format {kind.name}.", NOTHING)
    whole = playbooks.open(choice.book or "")
    chosen = narrowed(whole, choice.section, choice.min_helpful)
    left_out = len(whole.bullets) - len(chosen.bullets)
    remarks = ace_remarks(chosen, choice.dialect) if kind.name == ace.NAME else []
    remarks += [f"{_bullets(left_out)} left out by what was asked for."] if left_out else []
    return Parsed(kind.name, playbooks=(chosen,)), remarks


def narrowed(playbook: Playbook, section: str = "", min_helpful: int | None = None) -> Playbook:
    """Return the part of a playbook in the sections whose name holds `section`, with enough helpful marks.

    Sections that hold nothing then are left out. Raises `UnknownRecord` when no section is called so.
    """
    if not section and min_helpful is None:
        return playbook
    wanted = section.strip().casefold()
    named = [s for s in playbook.sections if wanted in s.title.casefold() or wanted in s.key or wanted == s.id]
    if not named:
        known = ", ".join(s.title or s.key for s in playbook.sections)
        raise UnknownRecord(f"No section is called “{section}”.", f"There are: {known or 'none'}. {NOTHING}")
    places = {s.id for s in named}
    least = min_helpful or 0
    bullets = tuple(b for b in playbook.bullets if b.section in places and b.helpful_count >= least)
    used = {b.section for b in bullets}
    sections = tuple(s for s in playbook.sections if s.id in used)
    return Playbook(replace(playbook.book, tail=()), sections, bullets)


def _memories(context: Context, kind: Outlet, choice: Choice, own: str | None) -> tuple[Parsed, list[str]]:
    if choice.section:
        raise WorkbenchError(f"--section does not go with --format {kind.name}.", f"{NOTHING} Use --filter instead.")
    everything = tuple(context.library.memories.all())
    remarks: list[str] = []
    if choice.memories is not None:
        ids = {memory.id for memory in choice.memories}
        chosen = [m for m in everything if m.id in ids]
    elif kind.name == "lifecycle":
        chosen = list(everything)
    elif own is not None or kind.reads:
        chosen, remark = _of_the_file(context, kind, everything, own)
        remarks += [remark] if remark else []
    else:
        chosen = [m for m in everything if _is_current(m)]
    if choice.min_helpful is not None:
        chosen = [m for m in chosen if m.helpful_count >= (choice.min_helpful or 0)]
    return Parsed(kind.name, memories=tuple(chosen)), remarks


def _of_the_file(
    context: Context, kind: Outlet, everything: Sequence[Memory], own: str | None
) -> tuple[list[Memory], str]:
    """Return the memories a file of another tool is to hold when nobody said which.

    Those that the file on disk holds; without one, those that came from such a file; otherwise all that an agent is
    served. What was forgotten or rejected since goes from the file.
    """
    living = [m for m in everything if not _was_archived_here(m)]
    if own is not None:
        inside = _ids_in(context, kind, own)
        mine = [m for m in living if m.id in inside]
        if mine:
            return mine, ""
    from_such = [m for m in living if file_part(m, kind.name) is not None]
    if from_such:
        return from_such, f"{len(from_such):,} memories that came from such a file; --filter chooses others."
    current = [m for m in living if _is_current(m)]
    return current, f"{len(current):,} memories that an agent may be served; --filter chooses others."


def _ids_in(context: Context, kind: Outlet, own: str) -> set[str]:
    try:
        found = registry.format_named(kind.name).read(own, ReadContext(now=context.now(), file=""))
    except UnreadableFile:
        return set()
    return {memory.id for memory in found.memories}


def _was_archived_here(memory: Memory) -> bool:
    """Tell a memory that was forgotten, rejected or merged from one that its own file calls done."""
    return memory.status == "archived" and ARCHIVED_FROM in memory.metadata


def _is_current(memory: Memory) -> bool:
    return memory.status in ("signal", "confirmed", "promoted")


def _bullets(count: int) -> str:
    return "1 bullet is" if count == 1 else f"{count:,} bullets are"
