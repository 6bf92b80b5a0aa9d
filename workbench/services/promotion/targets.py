"""From a memory and a target to the texts and their places."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from workbench.core.files.memory_md import MAX_BYTES, MAX_LINES, cut_at
from workbench.core.playbook import operations
from workbench.core.playbook.book import Playbook, Section
from workbench.core.promotion import Placement, PlacementKind, placement_id
from workbench.core.record import InvalidRecord, UnknownRecord, WorkbenchError
from workbench.core.stream.memory import Memory
from workbench.formats import managed_block
from workbench.formats.ace import ace
from workbench.formats.claude_memory import BEGIN
from workbench.formats.shared import markdown
from workbench.services.playbook.playbook import Playbooks
from workbench.services.promotion import texts
from workbench.services.promotion.placement_files import decoded, missing_folders, read
from workbench.services.promotion.placement_paths import Place, Places
from workbench.services.promotion.placements import Placing
from workbench.services.promotion.plan import BookEdit, Size, Target, neighbours, over_limit, size_of, texts_of

MEMORY_INDEX, SKILL = "MEMORY.md", "SKILL.md"
MEMORY_FOLDERS = (".", "memory", ".claude/memory")
"""Where a project's memory files may lie; the last one is where new ones go."""

SKILL_FOLDER = ".claude/skills"
MOST_OF_SKILL, WHY_OF_SKILL = 20_000, "move details of a longer skill into separate files"


@dataclass(frozen=True, slots=True)
class Writing:
    """What memories become: their placements, where each goes, and bullets of a playbook."""

    placements: tuple[Placement, ...]
    to: tuple[str, ...]
    book: BookEdit | None = None
    warnings: tuple[str, ...] = ()
    sizes: tuple[Size, ...] = ()


class Drafts:
    """Makes the texts of a promotion and finds their places; reads files, writes none.

    `mask` is what headings of a person's files go through where something is said of them.
    """

    def __init__(
        self, placing: Placing, playbooks: Callable[[], Playbooks], now: datetime, mask: Callable[[str], str]
    ) -> None:
        self._mask = mask
        self._placing = placing
        self._playbooks = playbooks
        self._now = now

    def of(self, memories: Sequence[Memory], target: Target) -> Writing:
        """Return what memories become at a target; raises `WorkbenchError` when they cannot go there."""
        if len(memories) > 1 and (target.title or target.slug or target.about):
            raise WorkbenchError("A title and a name are for one memory.", "Promote the others without them.")
        match target.kind:
            case "playbook":
                return self._bullets(memories, target)
            case "block":
                return self._block(memories, target)
            case "memory":
                return self._topics(memories, target)
            case "skill":
                return self._skills(memories, target)

    # A playbook

    def _bullets(self, memories: Sequence[Memory], target: Target) -> Writing:
        before, section = find_section(self._playbooks(), target.where)
        contents = tuple(texts.content_of(memory) for memory in memories)
        after = before
        for content in contents:
            after = operations.apply(after, operations.Add(section.id, content), self._now)
        known = {bullet.id for bullet in before.bullets}
        paths = [f"{before.book.id}/{b.id}" for b in after.bullets if b.id not in known]
        paths.sort(key=lambda path: int(path.rpartition("-")[2]))
        made = zip(memories, paths, contents, strict=True)
        placements = tuple(self._placement(memory.id, "bullet", path, content) for memory, path, content in made)
        edit = BookEdit(before.book.id, section.id, contents, ace.write_playbook(before), ace.write_playbook(after))
        return Writing(placements, tuple(paths), edit)

    # Files

    def _block(self, memories: Sequence[Memory], target: Target) -> Writing:
        if not target.where.strip():
            raise WorkbenchError("No file was named.", "Name a Markdown file, such as CLAUDE.md.")
        place = self._placing.places.named(Path(target.where))
        entries = [(memory, managed_block.item(texts.content_of(memory))) for memory in memories]
        placements = self._entries(place, entries, target.section)
        there = texts_of(place, self._placing.places)
        near = neighbours(there, [texts.content_of(memory) for memory in memories])
        size = size_of(place, there, [entry for _, entry in entries])
        said = (over_limit(size), *self._front_missing(place), *self._elsewhere(place, there, target.section))
        warnings = (*map(str, near), *(one for one in said if one))
        return Writing(placements, tuple(place.stored for _ in memories), warnings=warnings, sizes=(size,))

    def _front_missing(self, place: Place) -> Iterator[str]:
        """Say that a file which is there lacks the front matter that its tool asks for."""
        data = read(place.path)
        needs = texts.file_head(place.path.name, place.path.parent.name)
        if data is not None and needs and not markdown.front_matter(decoded(data, place.stored)[0])[1]:
            yield f"{place.stored} has no front matter, without which its tool does not apply it by itself."

    def _elsewhere(self, place: Place, there: dict[str, str], section: str) -> Iterator[str]:
        """Say that the block of a file stands elsewhere than under the section that was chosen."""
        text = there.get(place.stored, "")
        block = managed_block.find(text) if section and text else None
        if block is None:
            return
        above = [one for one in managed_block.headings(text) if one.line < block.line]
        chosen = managed_block.section_of(text, section, self._mask)
        if not above or above[-1] != chosen:
            at = f"under “{self._mask(above[-1].name)}”" if above else "above every heading"
            yield f"{place.stored} has its block {at} (line {block.line}) already: it goes there."

    def _topics(self, memories: Sequence[Memory], target: Target) -> Writing:
        folder = self._folder(target.where or memory_folder(self._placing.places))
        index = self._placing.places.named(folder / MEMORY_INDEX)
        files: list[Placement] = []
        entries: list[tuple[Memory, str]] = []
        for memory in memories:
            title, about = target.title or texts.title_of(memory), target.about or texts.about_of(memory)
            place = self._new_file(memory, target, title, lambda name: folder / f"{name}.md", files)
            files.append(self._file(memory, place, texts.topic_file(memory, texts.one_line(title), about)))
            line = texts.index_line(texts.one_line(title), place.path.name, about)
            entries.append((memory, managed_block.item(line)))
        placements = (*files, *self._entries(index, entries))
        lines = [entry for _, entry in entries]
        there = texts_of(index, self._placing.places)
        near = neighbours(there, [texts.content_of(memory) for memory in memories])
        warnings = (*map(str, near), *_cut(index, lines))
        sizes = (size_of(index, there, lines),)
        return Writing(placements, tuple(file.path for file in files), warnings=warnings, sizes=sizes)

    def _skills(self, memories: Sequence[Memory], target: Target) -> Writing:
        folder = self._folder(target.where or SKILL_FOLDER)
        files: list[Placement] = []
        for memory in memories:
            title, about = target.title or texts.title_of(memory), target.about or texts.about_of(memory)
            place = self._new_file(memory, target, title, lambda name: folder / name / SKILL, files)
            text = texts.skill_file(memory, place.path.parent.name, texts.one_line(title), about)
            files.append(self._file(memory, place, text))
        sizes = tuple(Size.of(file.path, (file.text,), most=MOST_OF_SKILL, why=WHY_OF_SKILL) for file in files)
        return Writing(tuple(files), tuple(file.path for file in files), sizes=sizes)

    def _folder(self, name: str) -> Path:
        """Return a folder as it really is, so that all files in it are named alike."""
        return self._placing.places.named(Path(name) / MEMORY_INDEX).path.parent

    def _new_file(
        self, memory: Memory, target: Target, title: str, at: Callable[[str], Path], made: Sequence[Placement]
    ) -> Place:
        """Return the place of a file that is not there yet, under the asked name or one made from the title."""
        names = self._placing.places
        taken = {placement.path for placement in made}
        if target.slug:
            if not texts.is_slug(target.slug):
                raise InvalidRecord(
                    f"“{target.slug}” cannot be the name.", "Use small letters, digits and single hyphens."
                )
            place = names.named(at(target.slug))
            if read(place.path) is not None:
                raise WorkbenchError(f"{place.stored} exists already.", "Choose another name; nothing was written.")
            return place
        tried: set[str] = set()
        while True:
            name = texts.slug_of(title, memory.id, tried)
            place = names.named(at(name))
            if place.stored not in taken and read(place.path) is None:
                return place
            tried.add(name)

    def _file(self, memory: Memory, place: Place, text: str) -> Placement:
        folders = missing_folders(place.path)
        return self._placement(memory.id, "file", place.stored, text, outside=place.outside, folders=folders)

    def _entries(self, place: Place, entries: Sequence[tuple[Memory, str]], section: str = "") -> tuple[Placement, ...]:
        """Return the placements of entries in the managed block of a file, as that file is now."""
        data = read(place.path)
        known = next((p for p in self._placing.committed().values() if _is_entry_of(p, place)), None)
        if data is None:
            if section:
                raise WorkbenchError(f"{place.stored} is a new file and has no sections yet.", "Nothing was written.")
            head = texts.file_head(place.path.name, place.path.parent.name)
            lead = managed_block.lead_of(head)
            made: dict[str, object] = {
                "created": True, "folders": missing_folders(place.path), "head": head, "lead": lead,
            }  # fmt: skip
        elif known is not None and BEGIN in decoded(data, place.stored)[0]:
            made = {
                "created": known.created, "lead": known.lead, "folders": known.folders, "section": known.section,
                "head": known.head,
            }  # fmt: skip
        else:
            text = decoded(data, place.stored)[0]
            named = managed_block.section_of(text, section, self._mask).name if section else ""
            made = {"lead": managed_block.lead_of(text), "section": named}
        outside = place.outside
        return tuple(
            self._placement(memory.id, "entry", place.stored, text, outside=outside, **made)  # type: ignore[arg-type]
            for memory, text in entries
        )

    def _placement(
        self,
        memory: str,
        kind: PlacementKind,
        path: str,
        text: str,
        *,
        outside: bool = False,
        created: bool = False,
        lead: int = 0,
        folders: int = 0,
        section: str = "",
        head: str = "",
    ) -> Placement:
        name = placement_id(memory, kind, path)
        return Placement(name, memory, kind, path, text, self._now, outside, created, lead, folders, section, head)


def memory_folder(places: Places) -> str:
    """Return where the project's memory files lie, or would."""
    project = places.project
    found = (f for f in MEMORY_FOLDERS if project is not None and (project / f / MEMORY_INDEX).is_file())
    return next(found, MEMORY_FOLDERS[-1])


def find_section(playbooks: Playbooks, name: str) -> tuple[Playbook, Section]:
    """Return the section called `name` (its id, key or title, or BOOK/SECTION) and its playbook.

    Raises `UnknownRecord` for none, and `InvalidRecord` when several playbooks have one.
    """
    books = [playbooks.open(line.book.id) for line in playbooks.books()]
    found: list[tuple[Playbook, Section]] = []
    for book in books:
        own = name.removeprefix(f"{book.book.id}/")
        if own != name:
            return book, operations.find_section(book, own)
        try:
            found.append((book, operations.find_section(book, name)))
        except UnknownRecord:
            continue
    if not found:
        known = ", ".join(dict.fromkeys(s.key for b in books for s in b.sections if s.key))
        raise UnknownRecord(f"No playbook has a section “{name}”.", f"There are: {known or 'none yet'}.")
    if len(found) > 1:
        names = ", ".join(f"{book.book.id}/{section.key}" for book, section in found)
        raise InvalidRecord(f"Several playbooks have a section “{name}”.", f"Name one of them: {names}.")
    return found[0]


def _is_entry_of(placement: Placement, place: Place) -> bool:
    return placement.kind == "entry" and placement.path == place.stored and placement.outside == place.outside


def _cut(index: Place, entries: Sequence[str]) -> tuple[str, ...]:
    """Say when new lines of an index fall below what Claude Code loads of it."""
    data = read(index.path)
    text = decoded(data, index.stored)[0] if data is not None else ""
    try:
        block = managed_block.find(text)
        after = managed_block.written(text, (*(block.items if block else ()), *entries), managed_block.lead_of(text))
    except managed_block.BrokenBlock:
        return ()  # said with the file's name when the block is to be written
    placed, cut = managed_block.find(after), cut_at(after)
    line = after.count("\n", 0, placed.end) if placed is not None else 0
    if cut is None or line < cut[0]:
        return ()
    loaded = f"the first {MAX_LINES} lines or {MAX_BYTES:,} bytes"
    return (f"The new line of {index.stored} is line {line}: Claude Code loads only {loaded}.",)
