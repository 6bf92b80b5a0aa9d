"""What goes into an exported file: which memories or bullets, and what the format makes of them."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path

from workbench.core.agents.read import UNKNOWN, Provenance
from workbench.core.files.format import ExportFormat, Parsed, ReadContext
from workbench.core.files.formats import format_named
from workbench.core.files.replacing import restored
from workbench.core.playbook.book import Bullet, Playbook, Section
from workbench.core.record import UnknownRecord, UnreadableFile, WorkbenchError
from workbench.core.stream.memory import ARCHIVED_FROM, Memory
from workbench.core.text import counted
from workbench.formats import letta
from workbench.formats.exports import export_format
from workbench.formats.mcp import entry as mcp_entry
from workbench.formats.shared.books import dated
from workbench.formats.shared.jsonrecords import file_part
from workbench.services.agents.aliases import served_name
from workbench.services.context import Context
from workbench.services.files.exports.choice import Choice
from workbench.services.files.exports.masking import masked_origin, masked_parsed
from workbench.services.files.overwriting import FileStates
from workbench.services.playbook.playbook import BookView, Playbooks
from workbench.services.safety.provenance import BEGIN, NOTE, begin_of, end_of, provenances_of
from workbench.services.safety.safety import Safety
from workbench.services.safety.texts import Outward, texts_of
from workbench.services.tuning.queries import judged_queries, qrels
from workbench.store.records import place_of

# Texts for an agent's prompt: what no person wrote or approved stands in a marked block that names its source.
#
# A mark is made of the texts, so that the same store writes the same file, and is one that none of them holds, so
# that no
# text can end its own block. A prompt has one for all its blocks; in a file that somebody keeps under version control
# each item has its own, so that the others stay as they are when one changes.


@dataclass(frozen=True, slots=True)
class Sources:
    """Where the texts of a file come from, by (table, key)."""

    known: Mapping[tuple[str, str], Provenance]

    def of(self, record: Outward) -> Provenance:
        return self.known.get(place_of(record), UNKNOWN)

    def unreviewed(self, records: Iterable[Outward]) -> frozenset[tuple[str, str]]:
        """Return the places of those that no person wrote or approved."""
        return frozenset(place_of(record) for record in records if not self.of(record).approved)


def sources_of(context: Context, parsed: Parsed) -> Sources:
    """Return where the memories, bullets and sections of a file come from."""
    look = Safety(context).findings
    known = provenances_of(context, _records(parsed))
    return Sources({place: replace(one, name=served_name(one.name, look)) for place, one in known.items()})


def in_blocks(parsed: Parsed, sources: Sources, *, apart: bool = False) -> tuple[str, Parsed]:
    """Return the mark, and a file's records with each text that nobody stands by in a block of its own.

    With `apart` each block has another mark.
    """
    common = _mark(_records(parsed))

    def block(record: Outward, text: str) -> str:
        known, mark = sources.of(record), _mark([record]) if apart else common
        return text if known.approved or not text.strip() else f"{begin_of(mark, known)} {text} {end_of(mark)}"

    def bullet(one: Bullet) -> Bullet:
        text = block(one, one.content)
        return one if text == one.content else replace(one, content=text, raw=None)

    def section(one: Section) -> Section:
        title = block(one, one.title)
        return one if title == one.title else replace(one, title=title, raw=None)

    memories = tuple(replace(memory, content=block(memory, memory.content)) for memory in parsed.memories)
    books = tuple(
        replace(book, sections=tuple(map(section, book.sections)), bullets=tuple(map(bullet, book.bullets)))
        for book in parsed.playbooks
    )
    return common, replace(parsed, memories=memories, playbooks=books)


def grouped(text: str, mark: str) -> str:
    """Return a prompt, of one line for each text, with the blocks of one source that follow each other as one."""
    block = re.compile(rf"{re.escape(BEGIN)} {mark}\] (.*?); {re.escape(NOTE)}: (.*) {re.escape(end_of(mark))}\Z")
    lines: list[str] = []
    blank: list[str] = []
    inside = ""
    for line in text.split("\n"):
        if not line:
            blank.append(line)
            continue
        found = block.search(line)
        source = found[1] if found else ""
        if source != inside:
            lines += [end_of(mark)] if inside else []
            blank += [f"{BEGIN} {mark}] {source}; {NOTE}:"] if source else []
        lines += [*blank, line if found is None else line[: found.start()] + found[2]]
        blank, inside = [], source
    return "\n".join([*lines, *([end_of(mark)] if inside else []), *blank])


def _records(parsed: Parsed) -> list[Memory | Bullet | Section]:
    found: list[Memory | Bullet | Section] = list(parsed.memories)
    for book in parsed.playbooks:
        found += [*book.sections, *book.bullets]
    return found


def _mark(records: Iterable[Outward]) -> str:
    """Return a mark that stands in none of the texts."""
    texts = [text for record in records for text in (record.id, *texts_of(record))]
    digest = blake2b("\0".join(texts).encode("utf-8", "surrogatepass"), digest_size=6)
    while any(digest.hexdigest() in text for text in texts):
        digest.update(b".")
    return digest.hexdigest()


# Which memories an exported file holds: what an agent reads never holds what nobody approved.


def chosen_memories(
    context: Context, kind: ExportFormat, choice: Choice, own: str | None, path: Path | None
) -> tuple[list[Memory], tuple[str, ...]]:
    """Return the memories for a file, and remarks on how they were chosen; `own` is what the file at `path` holds now.

    In a format for agents there are only signals and what was confirmed or promoted, and nothing from the future,
    unless `all_status` is given. A record that was read from such a file stays in it whatever its status.
    """
    everything = tuple(context.library.memories.all())
    inside = _ids_in(context, kind, own, path) if own is not None else frozenset[str]()
    found, remarks = _asked_for(kind, choice, everything, inside)
    if choice.min_helpful is not None:
        found = [m for m in found if m.helpful_count >= (choice.min_helpful or 0)]
    if kind.carries_status:
        return found, remarks
    if choice.all_status:
        return found, remarks
    kept = [m for m in found if _may_be_read(context, m) or _is_its_own(kind, m, inside)]
    ids = {memory.id for memory in kept}
    return kept, (*remarks, *_said(context, [m for m in found if m.id not in ids]))


def _asked_for(
    kind: ExportFormat, choice: Choice, everything: Sequence[Memory], inside: frozenset[str]
) -> tuple[list[Memory], tuple[str, ...]]:
    """Return the memories that a filter found; without one those of the file, of such files, or all."""
    if choice.memories is not None:
        ids = {memory.id for memory in choice.memories}
        return [m for m in everything if m.id in ids], ()
    if kind.carries_status or choice.all_status or not kind.reads:
        return list(everything), ()
    living = [m for m in everything if not _was_archived_here(m)]
    if mine := [m for m in living if m.id in inside]:
        return mine, ()
    if from_such := [m for m in living if file_part(m, kind.name) is not None]:
        return from_such, (
            f"{counted(len(from_such), 'memory', 'memories')} that came from such a file; --filter chooses others.",
        )
    return list(everything), ("Everything that an agent may be served; --filter chooses others.",)


def _ids_in(context: Context, kind: ExportFormat, own: str, path: Path | None) -> frozenset[str]:
    if not kind.reads:
        return frozenset()
    place = str(path or "")
    try:
        found = format_named(kind.name).read(own, ReadContext(now=context.now(), file=place, path=place))
    except UnreadableFile:
        return frozenset()
    return frozenset(memory.id for memory in found.memories)


def _may_be_read(context: Context, memory: Memory) -> bool:
    return memory.status in ("signal", "confirmed", "promoted") and memory.created_at <= context.now()


def _is_its_own(kind: ExportFormat, memory: Memory, inside: frozenset[str]) -> bool:
    """Tell a record that came into the store from this file and that nobody archived since."""
    return memory.id in inside and file_part(memory, kind.name) is not None and not _was_archived_here(memory)


def _was_archived_here(memory: Memory) -> bool:
    """Tell a memory that was forgotten, rejected or merged from one that its own file calls done."""
    return memory.status == "archived" and ARCHIVED_FROM in memory.metadata


def _said(context: Context, left_out: Iterable[Memory]) -> tuple[str, ...]:
    why = Counter("future" if m.created_at > context.now() else _why(m) for m in left_out)
    if not why:
        return ()
    parts = ", ".join(f"{count:,} {word}" for word, count in sorted(why.items()))
    memories = counted(why.total(), "memory", "memories")
    return (f"{memories} left out, not approved for agents ({parts}); --all-status takes them along.",)


def _why(memory: Memory) -> str:
    return memory.archived_reason or memory.status


NOTHING = "Nothing was written."


@dataclass(frozen=True, slots=True)
class Rendered:
    """The exact text, the outlet that made it, what it was made of, and what a person should know about it.

    `incomplete` says that not every record could be written: the remarks name the others.
    """

    export_format: ExportFormat
    text: str
    parsed: Parsed
    remarks: tuple[str, ...] = ()
    incomplete: bool = False


def render(
    context: Context,
    playbooks: Playbooks,
    format: str,
    choice: Choice,
    original: str | None = None,
    path: Path | None = None,
) -> Rendered:
    """Return the text of a file; `original` is the text it replaces at `path`, whose own lines stay where they can.

    What format that text has is what it was read or written as; a file that is not known here is recognised by its
    name and text.

    Raises `WorkbenchError` for a format, playbook or section that is not there.
    """
    kind = export_format(format)
    states = FileStates(context.library)
    place = path or Path()
    own = original if _is_mine(states, kind, place, original) else None
    if kind.holds == "queries":
        parsed, remarks = _queries(context, kind, choice), list[str]()
    elif kind.holds == "playbook" or (kind.holds == "either" and choice.book is not None):
        parsed, remarks = _book(playbooks, kind, choice)
    else:
        parsed, remarks = _memories(context, kind, choice, own, path)
    parsed, sources, said = _sourced(context, kind, parsed)
    parsed, masked = masked_parsed(context, kind, _without(parsed, choice.without), original, everything=choice.mask)
    hidden = (f"Secrets are masked in {counted(masked, 'record')}.",) if masked else ()
    mark, marked = ("", parsed) if sources is None else in_blocks(parsed, sources, apart=kind.inside)
    if own is None and kind.reads:
        own = masked_origin(kind, origin_of(context, states, kind, parsed), everything=choice.mask)
    try:
        text = _text(context, kind, marked, choice, own)
    except UnreadableFile:
        # Somebody broke the file, and nothing can be woven into it: it goes as a whole, or not at all.
        text = _text(context, kind, marked, choice, None)
    if mark and not kind.inside:
        text = grouped(text, mark)
    left = _left(kind, parsed)
    return Rendered(kind, text, parsed, (*remarks, *said, *hidden, *left), bool(left))


def _is_mine(states: FileStates, kind: ExportFormat, place: Path, original: str | None) -> bool:
    """Tell whether a file's text is one that this format can be woven into."""
    readable = kind.reads or bool(kind.reader)
    return original is not None and (kind.inside or (readable and states.is_of(kind, place, original)))


def _sourced(context: Context, kind: ExportFormat, parsed: Parsed) -> tuple[Parsed, Sources | None, tuple[str, ...]]:
    """Find out where the texts of a prompt come from, and leave out what no person stands by, where that is wanted."""
    if not kind.is_prompt:
        return parsed, None, ()
    sources = sources_of(context, parsed)
    living = (bullet for book in parsed.playbooks for bullet in book.bullets if bullet.state != "deprecated")
    strangers = sources.unreviewed((*parsed.memories, *living))
    if not strangers:
        return parsed, sources, ()
    one, more = ("memory", "memories") if parsed.memories else ("bullet", "bullets")
    count = f"1 {one}" if len(strangers) == 1 else f"{len(strangers):,} {more}"
    if context.settings.agents.serve == "approved":
        return _without(parsed, strangers), sources, (f"{count} left out that no person wrote or approved.",)
    return parsed, sources, (f"No person wrote or approved {count} in it: each stands in a marked block.",)


def _without(parsed: Parsed, places: frozenset[tuple[str, str]]) -> Parsed:
    """Return a file's records without those at some places of the store."""
    if not places:
        return parsed
    books = tuple(
        replace(book, bullets=tuple(b for b in book.bullets if place_of(b) not in places)) for book in parsed.playbooks
    )
    return replace(parsed, memories=tuple(m for m in parsed.memories if place_of(m) not in places), playbooks=books)


def _text(context: Context, kind: ExportFormat, parsed: Parsed, choice: Choice, own: str | None) -> str:
    if kind.dialects is not None:
        return restored(kind.dialects.write(parsed.playbooks[0], choice.dialect), own)
    if kind.by_topic:
        return qrels(context, own)
    if kind.needs_times:
        parsed = replace(parsed, playbooks=tuple(dated(book, context.now()) for book in parsed.playbooks))
    return kind.write(parsed, own)


def _queries(context: Context, kind: ExportFormat, choice: Choice) -> Parsed:
    if choice.section or choice.min_helpful is not None or choice.memories is not None:
        raise WorkbenchError(f"{kind.title}: judgments are written whole.", f"{NOTHING} Leave the choice of records.")
    return Parsed(kind.name, queries=tuple(judged_queries(context)))


def _book(playbooks: Playbooks, kind: ExportFormat, choice: Choice) -> tuple[Parsed, list[str]]:
    if choice.memories is not None:
        raise WorkbenchError(f"--filter does not go with --format {kind.name}.", NOTHING)
    whole = playbooks.open(choice.book or "")
    part, remarks = _within_budget(playbooks.view(whole.book.id), within=choice.within_budget)
    chosen = narrowed(part, choice.section, choice.min_helpful)
    left_out = len(part.bullets) - len(chosen.bullets)
    remarks += kind.dialects.remarks(chosen, choice.dialect) if kind.dialects is not None else []
    remarks += [f"{counted(left_out, 'bullet is', 'bullets are')} left out by what was asked for."] if left_out else []
    return Parsed(kind.name, playbooks=(chosen,)), remarks


def _within_budget(view: BookView, *, within: bool) -> tuple[Playbook, list[str]]:
    """Return a playbook as far as its token budget goes, or all of it, and a remark on what the budget keeps."""
    budget, cut = view.playbook.book.budget, view.cut
    if cut is None and within:
        return view.playbook, [f"Nothing is cut: {f'it fits {budget:,} tokens' if budget else 'there is no budget'}."]
    if cut is None:
        return view.playbook, []
    keeps = f"budget keeps {cut.share}"
    if not within:
        return view.playbook, [f"Everything is in it: the {keeps}."]
    return view.affordable, [f"The {keeps} ({budget:,} tokens). Out: {cut.went}."]


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


def _memories(
    context: Context, kind: ExportFormat, choice: Choice, own: str | None, path: Path | None
) -> tuple[Parsed, list[str]]:
    if choice.section:
        raise WorkbenchError(f"--section does not go with --format {kind.name}.", f"{NOTHING} Use --filter instead.")
    chosen, remarks = chosen_memories(context, kind, choice, own, path)
    over = filter(None, map(letta.over_limit, chosen)) if kind.name == letta.NAME else ()
    return Parsed(kind.name, memories=tuple(chosen)), [*remarks, *(f"{kind.title}: {one}." for one in over)]


def _left(kind: ExportFormat, parsed: Parsed) -> tuple[str, ...]:
    """Return why some records stay in the file as they are there: they have no place in it any more."""
    if kind.name != mcp_entry.NAME:
        return ()
    return tuple(f"left as it is: {why}." for memory in parsed.memories if (why := mcp_entry.broken(memory)))


def origin_of(context: Context, states: FileStates, kind: ExportFormat, parsed: Parsed) -> str | None:
    """Return the text that the store and the one file had in common from which all records of this kind came.

    `None` when they came from several files or from one of another format, or when the text was not kept.
    """
    if parsed.playbooks:
        source = parsed.playbooks[0].book.source
        return states.base_as(kind, Path(source)) if source else None
    wanted = {memory.id for memory in parsed.memories if file_part(memory, kind.name) is not None}
    found = list(_holding(context, states, kind, wanted)) if wanted else []
    return found[0] if len(found) == 1 else None


def _holding(context: Context, states: FileStates, kind: ExportFormat, wanted: set[str]) -> Iterator[str]:
    """Yield the kept texts of a format that hold all of some memories."""
    for path in states.paths():
        text = states.base_as(kind, path)
        if text is None:
            continue
        try:
            held = format_named(kind.name).read(text, ReadContext(now=context.now(), file=str(path), path=str(path)))
        except UnreadableFile:
            continue
        if wanted <= {memory.id for memory in held.memories}:
            yield text


__all__ = ["Choice", "Rendered", "narrowed", "render"]
