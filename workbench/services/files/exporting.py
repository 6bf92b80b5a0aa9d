"""Exporting files: what goes into one, the exact text first, a diff against what is on disk, then
one atomic write.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

from workbench.core.agents.actors import require_person
from workbench.core.agents.read import UNKNOWN, Provenance
from workbench.core.files.format import Format, Parsed
from workbench.core.files.fresh import hash_of
from workbench.core.files.locks import StoreBusy
from workbench.core.files.replacing import (
    bytes_of,
    changed_meanwhile,
    present_bytes,
    replace_bytes,
    restored,
    text_of,
)
from workbench.core.playbook.book import Book, Bullet, Dialect, Playbook, Section
from workbench.core.record import StoreProblem, UnknownRecord, UnreadableFile, WorkbenchError
from workbench.core.stream.memory import ARCHIVED_FROM, Memory
from workbench.core.text import counted
from workbench.formats import ace, letta, opening
from workbench.formats import mcp as mcp_entry
from workbench.formats.exports import OUTLETS, export_format
from workbench.formats.shared.books import dated
from workbench.formats.shared.records import file_part
from workbench.safety.scanning import mask
from workbench.services.agents.documents.instructions import is_loaded
from workbench.services.context import Context
from workbench.services.files.overwriting import (
    FileStates,
    NotReplaced,
    Obstacle,
    read_text,
)
from workbench.services.files.replaced import Replaced
from workbench.services.files.threeway import DiffLine, ThreeWay, diff_texts, three_way
from workbench.services.playbook.playbook import BookView, Playbooks
from workbench.services.safety.masking import masked, served_name
from workbench.services.safety.provenance import BEGIN, NOTE, begin_of, end_of, provenances_of
from workbench.services.safety.safety import Safety
from workbench.services.safety.texts import Outward, texts_of
from workbench.services.tuning.queries import judged_queries, qrels
from workbench.store.records import place_of

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Choice:
    """What a person wants in the file.

    `book` is a playbook's name (`None`: memories, where the format leaves the choice), `section` a
    part of a section's name, `min_helpful` the least number of helpful marks, `memories` the
    memories a filter found (`None`: no filter was given), `dialect` how ACE text is written
    (`None`: as it was read). `all_status` lets out to agents what nobody approved; `without` are
    (table, key) places of records that are left out. `within_budget` leaves out of a playbook what
    does not fit its token budget. `mask` takes secrets out of every format; otherwise learning
    entries, which lose nothing, keep them.
    """

    book: str | None = None
    section: str = ""
    min_helpful: int | None = None
    memories: tuple[Memory, ...] | None = None
    dialect: Dialect | None = None
    all_status: bool = False
    without: frozenset[tuple[str, str]] = frozenset()
    within_budget: bool = False
    mask: bool = False


def parts_of(parsed: Parsed) -> Iterator[Outward]:
    """Yield the records that a file made of `parsed` holds; ACE text leaves out what is deprecated."""
    yield from parsed.memories
    for playbook in parsed.playbooks:
        yield playbook.book
        yield from playbook.sections
        yield from (
            b for b in playbook.bullets if parsed.format != ace.NAME or b.state != "deprecated"
        )


def with_records(parsed: Parsed, change: Callable[[Any], Any]) -> Parsed:
    """Return a file's records as `change` gives them; it may leave out any but a book."""

    def kept(records: Iterable[R]) -> tuple[R, ...]:
        return tuple(made for record in records if (made := change(record)) is not None)

    books = tuple(
        Playbook(change(book.book), kept(book.sections), kept(book.bullets))
        for book in parsed.playbooks
    )
    return replace(parsed, memories=kept(parsed.memories), playbooks=books)


def masked_parsed(
    context: Context, parsed: Parsed, original: str | None, *, everything: bool = False
) -> tuple[Parsed, int]:
    """Return the records of a file with imported secrets masked, and how many records that changed.

    What the file that is replaced (`original`) holds already may stay in it, and so may what a
    person allowed. What may not leave the store is refused elsewhere, or, with `everything`, masked.
    """
    safety = Safety(context)
    records = list(parts_of(parsed))
    held = safety.check_outgoing(record for record in records if _has_secret(safety, record))
    wanted = (*held.warned, *held.refused) if everything else held.warned
    places = {place_of(one.record) for one in wanted if safety.override(one.record) is None}
    places |= {place_of(record) for record in records if _is_named_so(safety, record, original)}
    count = 0

    def shown(record: Outward) -> Outward:
        nonlocal count
        if place_of(record) not in places:
            return record
        clean = masked(record, lambda text: safety.masked(text, original or ""))
        count += clean != record
        return clean

    clean = with_records(parsed, shown) if places else parsed
    return clean if count else parsed, count


def _is_named_so(safety: Safety, record: Outward, original: str | None) -> bool:
    """Tell whether an id is a secret, which the file that is replaced does not hold."""
    found = (f for f in safety.findings(record.id) if f.kind == "secret")
    return any(record.id[f.start : f.end] not in (original or "") for f in found)


def _has_secret(safety: Safety, record: Outward) -> bool:
    return any(
        finding.kind == "secret" for text in texts_of(record) for finding in safety.sorts(text)
    )


# Texts for an agent's prompt: what no person wrote or approved stands in a marked block that names
# its source.
#
# A mark is made of the texts, so that the same store writes the same file, and is one that none of
# them holds, so that no text can end its own block. A prompt has one for all its blocks; in a file
# that somebody keeps under version control each item has its own, so that the others stay as they
# are when one changes.


Sources = Mapping[tuple[str, str], Provenance]
"""Where the texts of a file come from, by (table, key)."""


def sources_of(context: Context, parsed: Parsed) -> Sources:
    """Return where the memories, bullets and sections of a file come from."""
    look = Safety(context).findings
    known = provenances_of(context, _texts(parsed))
    return {place: replace(one, name=served_name(one.name, look)) for place, one in known.items()}


def in_blocks(parsed: Parsed, sources: Sources, *, apart: bool = False) -> tuple[str, Parsed]:
    """Return the mark, and a file's records with each text that nobody stands by in a block of its
    own.

    With `apart` each block has another mark.
    """
    common = _mark(_texts(parsed))

    def block(record: Outward) -> Outward:
        name = "title" if isinstance(record, Section) else "content"
        known, text = sources.get(place_of(record), UNKNOWN), getattr(record, name, "")
        if isinstance(record, Book) or known.approved or not text.strip():
            return record
        mark = _mark([record]) if apart else common
        changed: dict[str, Any] = {name: f"{begin_of(mark, known)} {text} {end_of(mark)}"}
        if not isinstance(record, Memory):
            changed["raw"] = None
        return replace(record, **changed)

    return common, with_records(parsed, block)


def grouped(text: str, mark: str) -> str:
    """Return a prompt, of one line for each text, with the blocks of one source that follow each
    other as one.
    """
    block = re.compile(
        rf"{re.escape(BEGIN)} {mark}\] (.*?); {re.escape(NOTE)}: (.*) {re.escape(end_of(mark))}\Z"
    )
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


def _texts(parsed: Parsed) -> list[Memory | Bullet | Section]:
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
    context: Context, kind: Format, choice: Choice, own: str | None, path: Path | None
) -> tuple[list[Memory], list[str]]:
    """Return the memories for a file, and remarks on how they were chosen; `own` is what the file
    at `path` holds now.

    In a format for agents there are only signals and what was confirmed or promoted, and nothing
    from the future, unless `all_status` is given. A record that was read from such a file stays in
    it whatever its status.
    """
    now, found = context.now(), list(context.library.memories.all())
    was = read_text(kind.name, own, path, now) if own is not None and kind.reads else None
    inside = {memory.id for memory in was.memories} if was is not None else set[str]()
    mine = {m.id for m in found if file_part(m, kind.name) is not None and not _archived_here(m)}
    whole, remarks = kind.carries_status or choice.all_status, list[str]()
    if choice.memories is not None:
        ids = {memory.id for memory in choice.memories}
        found = [m for m in found if m.id in ids]
    elif not whole and kind.reads:
        if there := [m for m in found if m.id in inside and not _archived_here(m)]:
            found = there
        elif mine:
            found = [m for m in found if m.id in mine]
            count = counted(len(found), "memory", "memories")
            remarks.append(f"{count} imported from such a file; --filter chooses others.")
        else:
            remarks.append("Everything agents may be served; --filter chooses others.")
    if choice.min_helpful is not None:
        found = [m for m in found if m.helpful_count >= (choice.min_helpful or 0)]
    if whole:
        return found, remarks
    kept, left = list[Memory](), Counter[str]()
    for memory in found:
        is_served = memory.status in ("signal", "confirmed", "promoted")
        if (is_served and memory.created_at <= now) or memory.id in inside & mine:
            kept.append(memory)
        else:
            why = memory.archived_reason or memory.status
            left["future" if memory.created_at > now else why] += 1
    if left:
        parts = ", ".join(f"{count:,} {word}" for word, count in sorted(left.items()))
        count = counted(left.total(), "memory", "memories")
        remarks.append(
            f"{count} left out, not approved for agents ({parts}); --all-status includes them."
        )
    return kept, remarks


def _archived_here(memory: Memory) -> bool:
    """Tell a memory that was forgotten, rejected or merged from one that its own file calls done."""
    return memory.status == "archived" and ARCHIVED_FROM in memory.metadata


NOTHING = "Nothing was written."


@dataclass(frozen=True, slots=True)
class Rendered:
    """The exact text, the outlet that made it, what it was made of, and what a person should know
    about it.

    `incomplete` says that not every record could be written: the remarks name the others.
    """

    export_format: Format
    text: str
    parsed: Parsed
    remarks: tuple[str, ...] = ()
    incomplete: bool = False


def _within_budget(view: BookView, *, within: bool) -> tuple[Playbook, list[str]]:
    """Return a playbook as far as its token budget goes, or all of it, and a remark on what the
    budget keeps.
    """
    budget, cut = view.playbook.book.budget, view.cut
    if cut is None and within:
        return view.playbook, [
            f"Nothing is left out: {f'it fits {budget:,} tokens' if budget else 'there is no budget'}."
        ]
    if cut is None:
        return view.playbook, []
    keeps = f"budget keeps {cut.share}"
    if not within:
        return view.playbook, [f"Everything fits: the {keeps}."]
    return view.affordable, [f"The {keeps} ({budget:,} tokens). Out: {cut.went}."]


def narrowed(playbook: Playbook, section: str = "", min_helpful: int | None = None) -> Playbook:
    """Return the part of a playbook in the sections whose name holds `section`, with enough helpful
    marks.

    Sections that hold nothing then are left out. Raises `UnknownRecord` when no section is called
    so.
    """
    if not section and min_helpful is None:
        return playbook
    wanted = section.strip().casefold()
    named = [
        s
        for s in playbook.sections
        if wanted in s.title.casefold() or wanted in s.key or wanted == s.id
    ]
    if not named:
        known = ", ".join(s.name for s in playbook.sections)
        raise UnknownRecord(
            f"No section is called “{section}”.", f"There are: {known or 'none'}. {NOTHING}"
        )
    places = {s.id for s in named}
    least = min_helpful or 0
    bullets = tuple(b for b in playbook.bullets if b.section in places and b.helpful_count >= least)
    used = {b.section for b in bullets}
    sections = tuple(s for s in playbook.sections if s.id in used)
    return Playbook(replace(playbook.book, tail=()), sections, bullets)


DEFAULT_NAME = "playbook.txt"
ACE = export_format(ace.NAME)


@dataclass(frozen=True, slots=True)
class ExportPreview:
    """Exactly what would be written to `path`, and what is there now (`None`: nothing).

    `obstacle` says why the file may not be replaced unasked. Where somebody else changed the file
    since the store last read or wrote it and the text that both had in common (`base`) is known,
    `three_way` holds both sides' changes, and `merged` the file with all of them; `None` where they
    collide or cannot be told apart.
    """

    path: Path
    text: str
    present: str | None
    kind: Format
    obstacle: Obstacle | None = None
    base: str | None = None
    three_way: ThreeWay | None = None
    merged: str | None = None

    @property
    def changed(self) -> bool:
        """Whether writing would change the file."""
        return self.text != self.present

    def lines(self, context: int = 2) -> tuple[DiffLine, ...]:
        """Return what differs between the file on disk and the new text, byte by byte and line by
        line.
        """
        return diff_texts(self.present or "", self.text, context)


@dataclass(frozen=True, slots=True)
class Written:
    """A file that was written, its format by name, and its size in bytes.

    `copy` is one of what it held, if that was not the store's to replace. `problem` says why the
    store could not note that the file is its own; the next export will ask then.
    """

    path: Path
    format: str
    size: int
    copy: Path | None = None
    problem: str = ""


class Exporter:
    """Writes the store's content as files of other tools; `replaced` keeps what goes on a person's
    word.
    """

    def __init__(self, context: Context, playbooks: Playbooks, replaced: Replaced) -> None:
        self._context = context
        self._playbooks = playbooks
        self._replaced = replaced
        self._states = FileStates(context.library)

    @property
    def outlets(self) -> tuple[Format, ...]:
        """Everything that can be written."""
        return OUTLETS

    def kind(self, format: str) -> Format:
        """Return what is written under the name of a format. Raises `UnreadableFile` when there is
        nothing.
        """
        return export_format(format)

    def the_book(self, name: str | None) -> str:
        """Return the playbook meant: the named one, or the only one there is; raises
        `UnknownRecord` otherwise.
        """
        books = self.books()
        if name is not None and name not in books:
            raise UnknownRecord(
                f"Unknown playbook {name}.", f"Known ones: {', '.join(books) or 'none'}."
            )
        if name is None and len(books) != 1:
            known = (
                f"Choose one with --book: {', '.join(books)}."
                if books
                else "Import one first, or add a bullet."
            )
            raise UnknownRecord(f"The store has {len(books) or 'no'} playbooks.", known)
        return name or books[0]

    def books(self) -> tuple[str, ...]:
        """Return the names of the store's playbooks."""
        return tuple(line.book.id for line in self._playbooks.books())

    def is_for_agents(self, format: str) -> bool:
        """Tell whether agents read files of a format, as opposed to programs that keep what the
        store holds.
        """
        kind = export_format(format)
        return not kind.carries_status and kind.holds != "queries"

    def target(self, book: str, format: str = ace.NAME) -> Path:
        """Return where a playbook goes unless told otherwise: the file it came from, or one in the
        working folder.
        """
        source = Path(self._context.library.books.get(book).source)
        try:
            known = source.is_absolute() and source.is_file()
        except (OSError, ValueError):
            known = False
        kind = export_format(format)
        own = (
            kind.name == ace.NAME
            if source.suffix in (".txt", ".md", "")
            else kind.suffix == source.suffix
        )
        return (
            source if known and kind.reads and own else Path(DEFAULT_NAME).with_suffix(kind.suffix)
        )

    def format_of(self, book: str) -> str:
        """Return the format of the file that a playbook came from, if it can be changed in place;
        otherwise ACE.
        """
        source = Path(self._context.library.books.get(book).source)
        own = {kind.name for kind in OUTLETS if kind.holds == "playbook"}
        try:
            text = opening.read_text(source) if source.is_absolute() else None
        except UnreadableFile:
            text = None
        known = None if text is None else self._states.known(source)
        return known.format if known is not None and known.format in own else ace.NAME

    # What goes into a file

    def render(self, format: str, choice: Choice, path: Path | None = None) -> Rendered:
        """Return the text of a file in a format; what is in the file at `path` already stays where
        it can.

        Of a file that somebody else changed meanwhile, that is the text that it and the store had
        in common. Raises `WorkbenchError` for a format, playbook or section that is not there.
        """
        kind = export_format(format)
        original = self._original(kind, path)
        own = original if self._is_mine(kind, path, original) else None
        parsed, said = self._chosen(kind, choice, own, path)
        parsed, sources, strangers = self._sourced(kind, parsed)
        parsed, count, masks = (
            _without(parsed, choice.without),
            0,
            choice.mask or not kind.loses_nothing,
        )
        if masks:
            parsed, count = masked_parsed(self._context, parsed, original, everything=choice.mask)
        hidden = [f"Secrets are masked in {counted(count, 'record')}."] if count else []
        mark, marked = "", parsed
        if sources is not None:
            mark, marked = in_blocks(parsed, sources, apart=kind.inside)
        if own is None and kind.reads:
            own = self._origin(kind, parsed)
            own = mask(own) if own is not None and masks else own
        try:
            text = self._text(kind, marked, choice, own)
        except UnreadableFile:
            # Somebody broke the file, and nothing can be woven into it: it goes as a whole, or not
            # at all.
            text = self._text(kind, marked, choice, None)
        if mark and not kind.inside:
            text = grouped(text, mark)
        # Records that have no place in the file any more stay in it as they are there.
        broken = map(mcp_entry.broken, parsed.memories) if kind.name == mcp_entry.NAME else ()
        left = [f"left unchanged: {why}." for why in broken if why]
        return Rendered(kind, text, parsed, (*said, *strangers, *hidden, *left), bool(left))

    def _original(self, kind: Format, path: Path | None) -> str | None:
        data = None if path is None else present_bytes(path)
        if path is None or data is None:
            return None
        known = self._states.known(path)
        if known is not None and known.sha256 != hash_of(data) and not kind.inside:
            return self._states.base(path) or text_of(path, data)
        return text_of(path, data)

    def _is_mine(self, kind: Format, path: Path | None, original: str | None) -> bool:
        """Tell whether a file's text is one that this format can be woven into: what it was read or
        written as, else what its name and text say.
        """
        if path is None or original is None:
            return False
        return kind.inside or (bool(kind.reader) and self._states.is_of(kind, path, original))

    def _chosen(
        self, kind: Format, choice: Choice, own: str | None, path: Path | None
    ) -> tuple[Parsed, list[str]]:
        if kind.holds == "queries":
            if choice.section or choice.min_helpful is not None or choice.memories is not None:
                raise WorkbenchError(
                    f"{kind.title}: judgments are exported as a whole.",
                    f"{NOTHING} Leave out the record filters.",
                )
            return Parsed(kind.name, queries=tuple(judged_queries(self._context))), []
        if kind.holds == "playbook" or (kind.holds == "either" and choice.book is not None):
            return self._book(kind, choice)
        if choice.section:
            raise WorkbenchError(
                f"--section does not go with --format {kind.name}.",
                f"{NOTHING} Use --filter instead.",
            )
        chosen, remarks = chosen_memories(self._context, kind, choice, own, path)
        over = filter(None, map(letta.over_limit, chosen)) if kind.name == letta.NAME else ()
        remarks += (f"{kind.title}: {one}." for one in over)
        return Parsed(kind.name, memories=tuple(chosen)), remarks

    def _book(self, kind: Format, choice: Choice) -> tuple[Parsed, list[str]]:
        if choice.memories is not None:
            raise WorkbenchError(f"--filter does not go with --format {kind.name}.", NOTHING)
        view = self._playbooks.view(self._playbooks.open(choice.book or "").book.id)
        part, remarks = _within_budget(view, within=choice.within_budget)
        chosen = narrowed(part, choice.section, choice.min_helpful)
        if kind.dialects is not None:
            remarks += kind.dialects.remarks(chosen, choice.dialect)
        if left_out := len(part.bullets) - len(chosen.bullets):
            bullets = counted(left_out, "bullet is", "bullets are")
            remarks.append(f"{bullets} left out by your filters.")
        return Parsed(kind.name, playbooks=(chosen,)), remarks

    def _sourced(self, kind: Format, parsed: Parsed) -> tuple[Parsed, Sources | None, list[str]]:
        """Find out where the texts of a prompt come from, and leave out what no person stands by,
        where that is wanted.
        """
        if not kind.is_prompt:
            return parsed, None, []
        sources = sources_of(self._context, parsed)
        bullets = [b for book in parsed.playbooks for b in book.bullets if b.state != "deprecated"]
        places = map(place_of, (*parsed.memories, *bullets))
        strangers = frozenset(p for p in places if not sources.get(p, UNKNOWN).approved)
        if not strangers:
            return parsed, sources, []
        words = ("memory", "memories") if parsed.memories else ("bullet", "bullets")
        count = counted(len(strangers), *words)
        if self._context.settings.agents.serve == "approved":
            said = f"{count} left out: not written or approved by you."
            return _without(parsed, strangers), sources, [said]
        said = f"{count} not written or approved by you: each is in a marked block."
        return parsed, sources, [said]

    def _text(self, kind: Format, parsed: Parsed, choice: Choice, own: str | None) -> str:
        if kind.dialects is not None and choice.dialect is not None:
            return restored(kind.dialects.write(parsed.playbooks[0], choice.dialect), own)
        if kind.by_topic:
            return qrels(self._context, own)
        if kind.needs_times:
            books = (dated(book, self._context.now()) for book in parsed.playbooks)
            parsed = replace(parsed, playbooks=tuple(books))
        return kind.write(parsed, own)

    def _origin(self, kind: Format, parsed: Parsed) -> str | None:
        """Return the text that the store and the one file had in common from which all records of
        this kind came.

        `None` when they came from several files or from one of another format, or when the text was
        not kept.
        """
        if parsed.playbooks:
            source = parsed.playbooks[0].book.source
            return self._states.base_as(kind, Path(source)) if source else None
        wanted = {m.id for m in parsed.memories if file_part(m, kind.name) is not None}
        found = list[str]()
        for path in self._states.paths() if wanted else ():
            text = self._states.base_as(kind, path)
            held = text and read_text(kind.name, text, path, self._context.now())
            if text and held and wanted <= {memory.id for memory in held.memories}:
                found.append(text)
        return found[0] if len(found) == 1 else None

    # Writing it

    def preview(self, path: Path, text: str, *, kind: Format = ACE) -> ExportPreview:
        """Compare a text of some kind with the file it would replace; raises `WorkbenchError` for
        what cannot be.
        """
        data = present_bytes(path)
        present = None if data is None else text_of(path, data)
        obstacle = self._states.obstacle(path, present, text, kind)
        base = self._states.base(path) if obstacle is not None else None
        found = ExportPreview(path, text, present, kind, obstacle, base)
        if obstacle is None or base is None or present is None or obstacle.why != "changed":
            return found
        both = three_way(base, text, present)
        merged = None if kind.inside else both.merged
        if merged is not None and not self._states.is_sound(path, merged, (text, present), kind):
            merged = None
        return replace(found, three_way=both, merged=merged)

    def write(self, preview: ExportPreview, *, force: bool = False) -> Written:
        """Replace the file in one step; with `force` also one that holds what the store cannot
        write back.

        Raises `NotReplaced` without `force`, `Conflict` when somebody changed the file since the
        preview, and `WorkbenchError` when it cannot be written, or not kept.
        """
        if preview.obstacle is not None and not force:
            raise NotReplaced(preview.obstacle, "It is replaced only on your confirmation.")
        return self._write(preview, preview.text)

    def write_merged(self, preview: ExportPreview) -> Written:
        """Replace a file by both sides' changes; theirs stay known as not being the store's."""
        if preview.merged is None:
            raise changed_meanwhile(preview.path)
        return self._write(replace(preview, obstacle=None), preview.merged)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Keep other writers out while a file is written, so that it is noted at once; raises
        `StoreBusy`.

        A store that cannot be written at all keeps no file from being written.
        """
        with ExitStack() as stack:
            try:
                stack.enter_context(self._context.library.turn())
            except StoreBusy:
                raise
            except StoreProblem:
                pass
            yield

    def _write(self, preview: ExportPreview, text: str) -> Written:
        if preview.kind.inside or is_loaded(preview.path):
            require_person(
                self._context.actor, "write into a file that agents load", "Nothing was written"
            )
        # What came from elsewhere and nobody has looked at goes into no file.
        self._context.library.require_trust()
        path, data = preview.path, bytes_of(text)
        before = None if preview.present is None else bytes_of(preview.present)
        with self._turn():
            if present_bytes(path) != before:
                raise changed_meanwhile(path)
            is_asked = preview.obstacle is not None
            copy = self._replaced.keep(path, before) if is_asked and before else None
            if data != before:
                replace_bytes(path, data, before)
            written = Written(path, preview.kind.name, len(data), copy)
            try:
                self._states.wrote(path, preview.kind, preview.text, before, self._context.actor)
            except StoreProblem as error:
                return replace(written, problem=str(error))
        return written


def _without(parsed: Parsed, places: frozenset[tuple[str, str]]) -> Parsed:
    """Return a file's memories and bullets without those at some places of the store."""

    def kept(record: Outward) -> Outward | None:
        is_out = isinstance(record, Memory | Bullet) and place_of(record) in places
        return None if is_out else record

    return with_records(parsed, kept) if places else parsed
