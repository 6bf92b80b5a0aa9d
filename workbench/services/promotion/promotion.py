"""Promotion: what is confirmed graduates to a playbook, to files that agents read, or to a skill.

Source 001, section 3. The text and the differences are shown first (`plan`); `carry_out` writes
exactly that, the record and the files together. Undo takes back both (see `placing`).
"""

import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from pathlib import Path, PurePath
from typing import Literal

from workbench.core import team
from workbench.core.agents.actors import OWN_TERMINAL, stands_by
from workbench.core.duplicates.dedup import conflicts
from workbench.core.duplicates.groups import much_alike, word_set
from workbench.core.files.memory_md import MAX_BYTES, MAX_LINES, cut_at, front_matter
from workbench.core.playbook import operations
from workbench.core.playbook.book import Playbook, Section
from workbench.core.promotion import Placement, PlacementKind, placement_id
from workbench.core.record import (
    AlreadyPromoted,
    Conflict,
    InvalidRecord,
    UnknownRecord,
    WorkbenchError,
)
from workbench.core.review import lifecycle
from workbench.core.review.kinds import kind_of
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.core.text import clean_for_store, clip, counted
from workbench.core.tokens import tokens_of
from workbench.formats import ace, managed_block
from workbench.formats.claude_memory import BEGIN, KINDS
from workbench.formats.instructions import imported, named
from workbench.formats.patch import scalar
from workbench.formats.shared import markdown
from workbench.services.context import Context
from workbench.services.playbook.playbook import Playbooks
from workbench.services.promotion.placements import (
    FileEdit,
    Place,
    Places,
    Placing,
    decoded,
    missing_folders,
    read,
)
from workbench.services.safety.provenance import provenances
from workbench.services.safety.safety import FlaggedText, Held, Safety
from workbench.services.team.proposing import propose
from workbench.services.team.reach import addresses

# The texts that a promoted memory becomes: an entry, a topic file with its index line, a skill.


TITLE, HOOK, ABOUT, SLUG = 60, 120, 300, 50
"""Most characters of a title, of what an index says about a file, of a skill's description, of a
file's name.
"""

LEARNED = "Lessons from this project"
"""How a new file of rules describes itself."""

_BEGINNING = 10_000
"""Characters of a memory that its title and what is said about it are made of."""

_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
_FEEDBACK = frozenset({"correction", "convention", "instruction"})


def title_of(memory: Memory) -> str:
    """Return a short title for a memory: its one-line form without Markdown around it."""
    plain = re.sub(r"[*`#\[\]]+", "", one_line(memory.line.lstrip()[:_BEGINNING])).strip(" .:;-")
    if len(plain) > TITLE:
        # A whole clause reads better than a cut sentence.
        clause = re.match(rf".{{{TITLE // 3},{TITLE}}}(?=[;,.:] | [—–(-])", plain)
        plain = clause[0].strip() if clause else plain
    return cut(plain, TITLE) or memory.id


def about_of(memory: Memory) -> str:
    """Return what a reader is told before opening a memory's file: its one-line form, or its first
    sentences.
    """
    return cut(one_line((memory.summary or memory.content).lstrip()[:_BEGINNING]), ABOUT)


def slug_of(title: str, fallback: str, taken: Container[str] = ()) -> str:
    """Return a file name for a title, in ASCII letters, digits and hyphens, that is not `taken`."""
    plain = (
        re.sub(r"['’]", "", unicodedata.normalize("NFKD", title))
        .encode("ascii", "ignore")
        .decode()
        .lower()
    )
    plain = re.sub(r"[^a-z0-9]+", "-", plain)[:SLUG].strip("-")
    plain = plain or re.sub(r"[^a-z0-9]+", "-", fallback.lower())[:SLUG].strip("-") or "note"
    name, number = plain, 2
    while not is_slug(name) or name in taken:
        name, number = f"{plain}-{number}", number + 1
    return name


def is_slug(name: str) -> bool:
    """Tell whether a name can be that of a topic file or a skill; `memory` would be the index
    itself on some disks.
    """
    return bool(_SLUG.match(name)) and len(name) <= 64 and name != "memory"


def topic_file(memory: Memory, title: str, about: str) -> str:
    """Return a topic file: front matter with name, description and type, then the memory."""
    category = memory.category if memory.category in KINDS else ""
    kind = category or ("feedback" if memory.observation_type in _FEEDBACK else "project")
    facts = (("name", title), ("description", about), ("type", kind))
    return f"{_front_matter(facts)}\n{content_of(memory)}\n"


def index_line(title: str, file: str, about: str) -> str:
    """Return the line that an index has for a topic file, without the dash."""
    hook = cut(one_line(about), HOOK)
    plain = title.replace("[", "(").replace("]", ")")
    return f"[{plain}]({file})" + (f" — {hook}" if hook and hook != title else "")


def skill_file(memory: Memory, slug: str, title: str, about: str) -> str:
    """Return a SKILL.md: front matter with name and description, the memory, and the ids it rests
    on.
    """
    evidence = ", ".join(dict.fromkeys((memory.id, *memory.citations)))
    front = _front_matter((("name", slug), ("description", about)))
    return f"{front}\n# {title}\n\n{content_of(memory)}\n\nEvidence: {one_line(evidence)}\n"


def file_head(name: str, folder: str) -> str:
    """Return the front matter that a new file needs for its tool, by its name; empty where it needs
    none.

    It is about the file, and holds no word of a memory: others come to stand there.
    """
    about = slug_of(folder, "skill").replace("-", " ")
    if name.lower().endswith(".mdc"):
        # A rule without it is never applied by itself; without globs it is, where it always
        # applies.
        front = _front_matter((("description", LEARNED), ("globs", "")))
        return front.replace('globs: ""\n', "globs:\nalwaysApply: true\n")
    if name == "SKILL.md":
        said = f"Lessons about {about}. Use them for work on {about}."
        return _front_matter((("name", slug_of(folder, "skill")), ("description", said)))
    if name.lower().endswith(".instructions.md"):
        return _front_matter((("applyTo", "**"),))
    return ""


def file_line(name: str, value: str) -> str:
    """Return a line of the front matter of a memory's file."""
    return f"{name}: {scalar(one_line(value), None)}"


def content_of(memory: Memory) -> str:
    """Return a memory's text as a file holds it: line feeds only, no blank lines around it."""
    return (
        clean_for_store(memory.content)
        .replace("\r\n", "\n")
        .replace("\r", "\n")
        .strip("\n")
        .rstrip()
    )


def one_line(text: str) -> str:
    """Return a text on one line, white space collapsed."""
    return " ".join(clean_for_store(text).split())


def cut(text: str, limit: int) -> str:
    """Cut a text to so many characters, after a word where that loses little, with an ellipsis."""
    if len(text) <= limit:
        return text
    kept = clip(text[:limit], limit - 1).removesuffix("…")
    space = kept.rfind(" ")
    return f"{(kept[:space] if space > limit // 2 else kept).rstrip(' ,;:.')}…"


def _front_matter(facts: tuple[tuple[str, str], ...]) -> str:
    lines = (file_line(name, value) for name, value in facts)
    return "\n".join(("---", *lines, "---", ""))


# What promoting would do, as values: where to, which texts, which files change how.


TargetKind = Literal["playbook", "block", "memory", "skill", "team"]


@dataclass(frozen=True, slots=True)
class Target:
    """Where a memory is promoted to.

    `where` is a section (or BOOK/SECTION) of a playbook, the file of a managed block, the address
    of a team's store, or the folder of memory or skill files (empty: the usual one). `title`,
    `slug` and `about` name and describe a memory file or a skill (empty: made from the memory).
    `kept` says that both stay as a person typed them, secrets and all. `section` is the heading of
    a file that its block goes under (empty: it brings its own).
    """

    kind: TargetKind
    where: str = ""
    title: str = ""
    slug: str = ""
    about: str = ""
    kept: bool = False
    section: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    """A place that suggests itself: the target, what it is called, and what is there now."""

    target: Target
    label: str
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Size:
    """How large a file becomes, in estimated tokens and in bytes, with the `others` that it brings
    in.

    `most` is how many bytes its tool takes of it, 0 where that is not known, and `why` what becomes
    of more.
    """

    file: str
    tokens: int
    bytes: int
    others: int
    most: int
    why: str

    @property
    def is_over(self) -> bool:
        """Whether it is larger than its tool takes."""
        return 0 < self.most < self.bytes

    @property
    def named(self) -> str:
        return f"{self.file} with the {self.others} it brings in" if self.others else self.file


@dataclass(frozen=True, slots=True)
class PromotionPlan:
    """Everything that promoting would write, and nothing else is written.

    `memories` are the records as they are, `placements` what they become, and `edits` the files and
    the playbook that change with it. `outside` are full paths of files outside the project, which
    need a yes; `flagged` are memories whose text should not travel, and that nobody let pass.
    `sizes` say how large the files become against what their tools take.
    """

    target: Target
    memories: tuple[Memory, ...]
    placements: tuple[Placement, ...]
    edits: tuple[FileEdit, ...]
    flagged: tuple[Held, ...] = ()
    warnings: tuple[str, ...] = ()
    sizes: tuple[Size, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(memory.id for memory in self.memories)

    @property
    def place_of(self) -> dict[str, str]:
        """Where each memory goes, by its id: of a file and its line in an index, to the file."""
        if self.target.kind == "team":
            return dict.fromkeys(self.ids, team.place_of(self.target.where))
        return {placement.memory: placement.path for placement in reversed(self.placements)}

    @property
    def to(self) -> tuple[str, ...]:
        """Where the memories go, each place once."""
        return tuple(dict.fromkeys(self.place_of[id] for id in self.ids))

    @property
    def outside(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(p.path for p in self.placements if p.outside))

    @property
    def approves(self) -> tuple[str, ...]:
        """The ids of those that are approved first, because nobody has confirmed them yet."""
        return tuple(memory.id for memory in self.memories if memory.status != "confirmed")

    @property
    def text(self) -> str:
        """The exact text that is added, entry after entry."""
        if self.target.kind == "team":
            return "\n".join(memory.content for memory in self.memories)
        return "\n".join(placement.text for placement in self.placements)


class ChangedMeanwhile(WorkbenchError):
    """What was shown is no longer what would be written; nothing was."""


# Checks of a file before memories are promoted to it: lines that duplicate or contradict them, and
# its size. Files that it imports by `@` are checked with it, since agents load both.


MOST = 20
"""Imported files that are checked with a file."""

_LIMITS = (
    (
        r"AGENTS(?:\.override)?\.md",
        32_768,
        "Codex loads no more than this of all such files together",
    ),
    (r"CLAUDE(?:\.local)?\.md", 40_000, "Claude Code warns of a larger one"),
    (r"\.windsurfrules", 12_000, "Windsurf reads no more than this"),
    (r"copilot-instructions\.md", 4_000, "Copilot's reviews read no more than this"),
    (r"SKILL\.md", 20_000, "move details of a longer skill into separate files"),
    (r"MEMORY\.md", MAX_BYTES, "Claude Code loads no more than this"),
)
"""The bytes that tools take of a file, by its name."""


def imports_of(file: Path, text: str, places: Places) -> dict[str, str]:
    """Return the texts of the files that a file brings in, by their names; unreadable ones are
    left.
    """
    names: dict[str, str] = {}

    def beside(name: str) -> str | None:
        try:
            place = places.named(file.parent / Path(name).expanduser())
            data = read(place.path)
            names[name] = place.stored
            return None if data is None else decoded(data, place.stored)[0]
        except (WorkbenchError, OSError, ValueError, RuntimeError):
            return None

    found = imported(text, file.name, beside)
    return {names[one.path]: one.text for one in islice(found, MOST) if one.text is not None}


def neighbours(texts: dict[str, str], memories: Sequence[Memory]) -> Iterator[str]:
    """Name the lines of some files that say nearly what a memory says, or perhaps otherwise."""
    words = [(content, word_set(content)) for content in map(content_of, memories)]
    for file, text in texts.items():
        for one in markdown.statements(text):
            has = word_set(one.text) if one.kind in ("item", "text") else frozenset()
            alike = [
                content
                for content, own in words
                if own and has and much_alike(content, one.text, own, has)
            ]
            if alike:
                differs = all(conflicts(content, one.text) for content in alike)
                says = "may contradict this" if differs else "says nearly the same"
                yield f"{file}:{one.line} {says}."


def size_said(size: Size) -> str:
    """Say how large a file becomes, against what its tool takes where that is known."""
    limit = f", {size.bytes:,} of {size.most:,} bytes" if size.most else ""
    return f"{size.named} is then {size.tokens:,} tokens{limit}."


def _size(name: str, texts: Sequence[str]) -> Size:
    """Return how large a file becomes, of its own text and those that it brings in."""
    bytes = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    base = PurePath(name).name
    known = ((most, why) for one, most, why in _LIMITS if re.fullmatch(one, base, re.IGNORECASE))
    return Size(name, sum(map(tokens_of, texts)), bytes, len(texts) - 1, *next(known, (0, "")))


def _cut(index: str, text: str) -> Iterator[str]:
    """Say when new lines of an index fall below what Claude Code loads of it."""
    block, cut = managed_block.find(text), cut_at(text)
    line = text.count("\n", 0, block.end) if block is not None else 0
    if cut is not None and line >= cut[0]:
        loaded = f"the first {MAX_LINES} lines or {MAX_BYTES:,} bytes"
        yield f"The new line of {index} is line {line}: Claude Code loads only {loaded}."


# From a memory and a target to the texts and their places.


MEMORY_INDEX, SKILL = "MEMORY.md", "SKILL.md"
MEMORY_FOLDERS = (".", "memory", ".claude/memory")
"""Where a project's memory files may lie; the last one is where new ones go."""

SKILL_FOLDER = ".claude/skills"

USUAL_FILES = ("CLAUDE.md", "AGENTS.md")
"""The files that agents read at the start, in the project's folder."""


def memory_folder(places: Places) -> str:
    """Return where the project's memory files lie, or would."""
    project = places.project
    found = (
        f for f in MEMORY_FOLDERS if project is not None and (project / f / MEMORY_INDEX).is_file()
    )
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
        raise UnknownRecord(
            f"No playbook has a section “{name}”.", f"There are: {known or 'none yet'}."
        )
    if len(found) > 1:
        names = ", ".join(f"{book.book.id}/{section.key}" for book, section in found)
        raise InvalidRecord(
            f"Several playbooks have a section “{name}”.", f"Choose one of them: {names}."
        )
    return found[0]


def claude_memory(project: Path) -> Path | None:
    """Return the folder in which Claude Code keeps its own memory of a project, if there is one."""
    try:
        name = re.sub(r"[^A-Za-z0-9]", "-", str(project))
        folder = Path.home() / ".claude/projects" / name / "memory"
        return folder if folder.is_dir() else None
    except (OSError, RuntimeError):
        return None


UNCHANGED = "Nothing was changed."
_TO_MOVE = "To move it, undo that first: `workbench history {id}` lists it, `workbench undo --rev REV` does it."


class Promotion:
    """Plans promotions and carries them out."""

    def __init__(
        self, context: Context, playbooks: Callable[[], Playbooks], safety: Safety, placing: Placing
    ) -> None:
        self._context = context
        self._library = context.library
        self._playbooks = playbooks
        self._safety = safety
        self._placing = placing
        self.places = placing.places

    # The places that suggest themselves, with what is there now

    def offers(self) -> tuple[Offer, ...]:
        """Return the usual files, memory files and skills, then every section of every playbook."""
        project, found = self.places.project, list[Offer]()
        if project is not None:
            found += self._usual()
            folder = memory_folder(self.places)
            found.append(Offer(Target("memory"), "memory file", f"{folder}/".removeprefix("./")))
            if (own := claude_memory(project)) is not None:
                label = "memory file of Claude Code"
                found.append(Offer(Target("memory", str(own)), label, "outside the project"))
            found.append(Offer(Target("skill"), "skill", f"{SKILL_FOLDER}/"))
        lines = self._playbooks().books()
        for line in lines:
            book = self._playbooks().open(line.book.id)
            name = f"{line.book.name} › " if len(lines) > 1 else "playbook › "
            for section in book.sections:
                title = section.name or "(no title)"
                bullets = counted(len(book.in_section(section.id)), "bullet")
                target = Target("playbook", f"{book.book.id}/{section.id}")
                found.append(Offer(target, f"{name}{title}", bullets))
        return (*found, *self._teams())

    def _teams(self) -> Iterator[Offer]:
        if self._library.shared is None:
            for address in addresses():
                name = f"team › {team.shown(address)}"
                yield Offer(Target("team", address), name, "waits in its Review")

    def _usual(self) -> Iterator[Offer]:
        """Yield the usual files; one that another leads to by a link, or brings in, is the one
        place for both.
        """
        there = {name: self._there(name) for name in USUAL_FILES}
        leads = {
            (name, other)
            for name, (real, text, _) in there.items()
            for other in there
            if other != name
            and (real == other or any(one.removeprefix("./") == other for _, one in named(text)))
        }
        for name, (_, _, remark) in there.items():
            if any(one == name and (other, one) not in leads for one, other in leads):
                continue
            said = [remark, *(f"{one} leads to it" for one, other in leads if other == name)]
            yield Offer(Target("block", name), name, ", ".join(filter(None, said)))

    def _there(self, name: str) -> tuple[str, str, str]:
        """Return what file a usual one really is, what it says, and what a person is told of it;
        what is wrong with it is said when it is chosen.
        """
        try:
            place = self.places.named(Path(name))
            data = read(place.path)
            if data is None:
                return name, "", "a new file"
            text = decoded(data, name)[0]
            block = managed_block.find(text)
        except WorkbenchError:
            return name, "", ""
        count = len(block.entries) if block else 0
        return place.stored, text, counted(count, "entry", "entries") if count else "no entries yet"

    # Planning

    def plan(
        self, ids: Sequence[str], target: Target, *, at: datetime | None = None
    ) -> PromotionPlan:
        """Return what promoting memories to a place would write; writes nothing.

        Raises `UnknownRecord`, `EditedBlock` for a managed block that was changed by hand, and
        `WorkbenchError` for a memory that cannot be promoted or a place that cannot be written.
        """
        memories = tuple(self._library.memories.get(id) for id in dict.fromkeys(ids))
        if not memories:
            raise WorkbenchError("Name at least one memory to promote.", UNCHANGED)
        if len(memories) > 1 and (target.title or target.slug or target.about):
            raise WorkbenchError(
                "Title and name apply to one memory only.", "Promote the others without them."
            )
        at = at or self._context.now()
        mask = str if target.kept else self._safety.masked
        target = replace(target, title=mask(target.title), about=mask(target.about))
        for memory in memories:
            self._promoted(memory, "somewhere")
        # That a text came in by import is no excuse here.
        flagged = self._safety.unpermitted(memories)
        typed = [text for text in (target.title, target.about) if text]
        held = self._safety.check_typed(memories[0], typed)
        flagged = flagged if held is None else (*flagged, held)
        if target.kind == "team":
            return PromotionPlan(target, memories, (), (), flagged)
        if target.kind == "playbook":
            bullets, edit = self._bullets(memories, target, at)
            return PromotionPlan(target, memories, bullets, (edit,), flagged)
        placements = self.drafted(memories, target, at)
        edits, remarks = self._placing.planned(placements)
        plan = PromotionPlan(target, memories, placements, edits, flagged)
        sizes, warnings = list[Size](), list[str]()
        for edit in edits:
            # The file of one topic is as large as its memory.
            if target.kind != "memory" or edit.path.name == MEMORY_INDEX:
                size, said = self._looked_at(plan, edit)
                sizes.append(size)
                warnings += said
        return replace(plan, sizes=tuple(sizes), warnings=(*warnings, *remarks))

    def _looked_at(self, plan: PromotionPlan, edit: FileEdit) -> tuple[Size, list[str]]:
        """Return how large a file becomes, and what a person should know of it."""
        before, after = (
            "" if data is None else decoded(data, edit.name)[0]
            for data in (edit.before, edit.after)
        )
        brought = imports_of(edit.path, before, self.places)
        size = _size(edit.name, (after, *brought.values()))
        said = list(neighbours({edit.name: before, **brought}, plan.memories))
        if size.is_over:
            bytes = f"{size.bytes:,} bytes, of {size.most:,}"
            said.append(f"{size.named} is then {bytes}: {size.why}.")
        if plan.target.kind == "memory":
            said += _cut(edit.name, after)
        needs = file_head(edit.path.name, edit.path.parent.name)
        if plan.target.kind == "block" and edit.before is not None:
            if needs and not front_matter(before)[1]:
                said.append(
                    f"{edit.name} has no front matter, so its tool does not apply it automatically."
                )
            said += self._elsewhere(edit.name, before, plan.target.section)
        return size, said

    def _elsewhere(self, name: str, text: str, section: str) -> Iterator[str]:
        """Say that the block of a file stands elsewhere than under the section that was chosen."""
        block = managed_block.find(text) if section else None
        if block is None:
            return
        above = [one for one in managed_block.places(text) if one.line < block.line]
        chosen = managed_block.section_of(text, section, self._safety.masked)
        if not above or above[-1] != chosen:
            at = (
                f"under “{self._safety.masked(above[-1].name)}”" if above else "above every heading"
            )
            yield f"{name} already has its block {at} (line {block.line}), which is used."

    def _bullets(
        self, memories: Sequence[Memory], target: Target, at: datetime
    ) -> tuple[tuple[Placement, ...], FileEdit]:
        before, section = find_section(self._playbooks(), target.where)
        after, placements = before, list[Placement]()
        for memory in memories:
            content, known = content_of(memory), {bullet.id for bullet in after.bullets}
            after = operations.apply(after, operations.Add(section.id, content), at)
            made = next(bullet.id for bullet in after.bullets if bullet.id not in known)
            place = Place(Path(), f"{before.book.id}/{made}", False)
            placements.append(_placement(memory, "bullet", place, content, at))
        old, new = (ace.write_playbook(book).encode() for book in (before, after))
        return tuple(placements), FileEdit(Path(), f"playbook {before.book.id}", old, new)

    def drafted(
        self, memories: Sequence[Memory], target: Target, at: datetime
    ) -> tuple[Placement, ...]:
        """Return what memories become in files; raises `WorkbenchError` when they cannot go there."""
        if target.kind == "block":
            if not target.where.strip():
                raise WorkbenchError("No file given.", "Give a Markdown file, such as CLAUDE.md.")
            place = self.places.named(Path(target.where))
            entries = [(memory, content_of(memory)) for memory in memories]
            return self._entries(place, entries, at, target.section)
        is_skill = target.kind == "skill"
        where = target.where or (SKILL_FOLDER if is_skill else memory_folder(self.places))
        # The folder as it really is, so that all files in it are named alike.
        index = self.places.named(Path(where) / MEMORY_INDEX)
        files, entries = list[Placement](), list[tuple[Memory, str]]()
        for memory in memories:
            title = one_line(target.title or title_of(memory))
            about = target.about or about_of(memory)
            taken = {placement.path for placement in files}
            place = self._new_file(index.path.parent, target, title, memory.id, taken)
            if is_skill:
                text = skill_file(memory, place.path.parent.name, title, about)
            else:
                text = topic_file(memory, title, about)
                entries.append((memory, index_line(title, place.path.name, about)))
            folders = missing_folders(place.path)
            files.append(_placement(memory, "file", place, text, at, folders=folders))
        return (*files, *(() if is_skill else self._entries(index, entries, at)))

    def _new_file(
        self, folder: Path, target: Target, title: str, id: str, taken: Container[str]
    ) -> Place:
        """Return the place of a file that is not there yet, under the asked name or one made from
        the title.
        """
        if target.slug and not is_slug(target.slug):
            raise InvalidRecord(
                f"“{target.slug}” cannot be the name.",
                "Use small letters, digits and single hyphens.",
            )
        tried: set[str] = set()
        while True:
            name = target.slug or slug_of(title, id, tried)
            file = f"{name}/{SKILL}" if target.kind == "skill" else f"{name}.md"
            place = self.places.named(folder / file)
            if place.stored not in taken and read(place.path) is None:
                return place
            if target.slug:
                raise WorkbenchError(
                    f"{place.stored} exists already.", "Choose another name; nothing was written."
                )
            tried.add(name)

    def _entries(
        self, place: Place, entries: Sequence[tuple[Memory, str]], at: datetime, section: str = ""
    ) -> tuple[Placement, ...]:
        """Return the placements of entries in the managed block of a file, as that file is now."""
        data = read(place.path)
        text = "" if data is None else decoded(data, place.stored)[0]
        mine = (
            p
            for p in self._placing.committed().values()
            if p.kind == "entry" and (p.path, p.outside) == (place.stored, place.outside)
        )
        known = next(mine, None)
        made: dict[str, object]
        if data is None:
            if section:
                raise WorkbenchError(
                    f"{place.stored} is a new file and has no sections yet.", "Nothing was written."
                )
            head = file_head(place.path.name, place.path.parent.name)
            made = {"created": True, "folders": missing_folders(place.path), "head": head}
            made["lead"] = managed_block.lead_of(head)
        elif known is not None and BEGIN in text:
            kept = ("created", "lead", "folders", "section", "head")
            made = {name: getattr(known, name) for name in kept}
        else:
            made = {"lead": managed_block.lead_of(text)}
            if section:
                heading = managed_block.section_of(text, section, self._safety.masked)
                made["section"] = heading.name
        return tuple(
            _placement(memory, "entry", place, managed_block.item(text), at, **made)
            for memory, text in entries
        )

    # Writing

    def carry_out(
        self,
        plan: PromotionPlan,
        *,
        outside: bool = False,
        allow: str | None = None,
        reason: str = "",
        keep: Iterable[str] = (),
    ) -> str:
        """Write what a plan shows and mark the memories as promoted, as one action; return what was
        done.

        `outside` is the person's yes to files outside the project; `allow`, a reason (or an empty
        text), lets flagged texts pass; `reason` goes into the history; `keep` are texts whose
        secrets stay as a person typed them. Raises `FlaggedText`, and `Conflict` when a file or
        memory was changed since the plan; nothing is written then.
        """
        if plan.outside and not outside:
            raise WorkbenchError(
                f"{plan.outside[0]} lies outside the project.",
                "Nothing was written without confirmation.",
            )
        if plan.flagged and allow is None:
            raise FlaggedText(plan.flagged)
        self._require_word(plan)
        named = plan.ids[0] if len(plan.ids) == 1 else f"{len(plan.ids)} memories"
        label = (
            f"promote {named} to {', '.join(plan.to[:2])}{' and more' if len(plan.to) > 2 else ''}"
        )
        label += f": {reason}" if reason else ""
        with (
            self._placing.guarded() as follow,
            self._library.transaction(self._context.actor, label) as tx,
        ):
            self._require_unchanged(plan)
            self._safety.keep_typed(*keep)
            for held in (held for held in plan.flagged if not held.typed):
                self._safety.allow(held.id, allow or "")
            if plan.target.kind == "team":
                propose(plan.target.where, plan.memories, self._library.id, self._context.clock)
            promoted = (self._promoted(m, plan.place_of[m.id]) for m in plan.memories)
            for record in (*promoted, *plan.placements, *self._answered(plan)):
                tx.put(record)
            if plan.target.kind == "playbook":
                book, section = find_section(self._playbooks(), plan.target.where)
                adds = (operations.Add(section.id, one.text) for one in plan.placements)
                self._playbooks().apply(book.book.id, "promote", *adds)
            follow()
        return label

    def _require_word(self, plan: PromotionPlan) -> None:
        """Raise unless a person acts here, or stood by every text before: files that agents read
        hold nothing else.
        """
        if stands_by(self._context.actor):
            return
        known = provenances(self._context, plan.memories)
        if doubtful := next((id for id in plan.ids if not known[id].approved), ""):
            raise WorkbenchError(
                f"No human has written or approved {doubtful}.",
                f"Nothing was written; {OWN_TERMINAL}",
            )

    def _require_unchanged(self, plan: PromotionPlan) -> None:
        try:
            at = plan.placements[0].created_at if plan.placements else None
            fresh = self.plan(plan.ids, plan.target, at=at)
        except Conflict:
            raise
        except WorkbenchError as error:
            raise ChangedMeanwhile(
                f"It can no longer be promoted: {error.message}", error.hint
            ) from error
        if replace(fresh, flagged=plan.flagged, warnings=plan.warnings, sizes=plan.sizes) != plan:
            changed = (edit.name for edit in fresh.edits if edit not in plan.edits)
            what = next(changed, "What is promoted")
            raise Conflict(
                f"{what} was changed meanwhile.", "Nothing was written; check the preview again."
            )

    def _promoted(self, memory: Memory, to: str) -> Memory:
        """Return a memory as promoted; one that nobody confirmed is approved on the way."""
        if memory.status in ("signal", "candidate"):
            memory = lifecycle.approve(
                memory, self._context.now(), self._context.settings.lifecycle
            )
        if memory.status == "promoted":
            where = memory.promoted_to or "another place"
            raise AlreadyPromoted(
                f"{memory.id} was promoted to {where} already.", _TO_MOVE.format(id=memory.id)
            )
        return lifecycle.promote(memory, to)

    def _answered(self, plan: PromotionPlan) -> list[Proposal]:
        """Return the open proposals about these memories that a promotion settles, as settled."""
        return [
            replace(p, state="accepted", decided_at=self._context.now())
            for p in self._library.proposals.all()
            if p.state == "open"
            and kind_of(p.kind).settled_by_promotion
            and p.evidence[:1]
            and p.evidence[0] in plan.ids
        ]


def _placement(
    memory: Memory, kind: PlacementKind, place: Place, text: str, at: datetime, **made: object
) -> Placement:
    name = placement_id(memory.id, kind, place.stored)
    return Placement(name, memory.id, kind, place.stored, text, at, place.outside, **made)  # type: ignore[arg-type]
