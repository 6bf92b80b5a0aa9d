"""Promotion: what is confirmed graduates to a playbook, to files that agents read, or to a skill.

Source 001, section 3. The text and the differences are shown first (`plan`); `carry_out` writes
exactly that, the record and the files together. Undo takes back both (see `placing`).
"""

import json
import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from workbench.core.agents.actors import OWN_TERMINAL, stands_by
from workbench.core.duplicates.dedup import conflicts
from workbench.core.duplicates.groups import much_alike, word_set
from workbench.core.files.memory_md import MAX_BYTES, MAX_LINES, cut_at
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
from workbench.core.text import clean_for_store, clip
from workbench.core.tokens import tokens_of
from workbench.formats import ace, managed_block
from workbench.formats.claude_memory import BEGIN, KINDS
from workbench.formats.shared import markdown
from workbench.services.context import Context
from workbench.services.files.threeway import DiffLine, diff_texts
from workbench.services.playbook.playbook import Playbooks
from workbench.services.promotion.placements import (
    NO_MOVES,
    Moves,
    Place,
    Places,
    Placing,
    decoded,
    missing_folders,
    read,
)
from workbench.services.safety.provenance import provenances
from workbench.services.safety.safety import FlaggedText, Held, Safety

# The texts that a promoted memory becomes: an entry, a topic file with its index line, a skill.


TITLE, HOOK, ABOUT, SLUG = 60, 120, 300, 50
"""Most characters of a title, of what an index says about a file, of a skill's description, of a
file's name.
"""

LEARNED = "What was learned in this project"
"""How a new file of rules describes itself."""

_BEGINNING = 10_000
"""Characters of a memory that its title and what is said about it are made of."""

_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
_PLAIN = re.compile(r"[^\W\d_][\w ,.()/'’+-]*\Z")
_LIKE_A_VALUE = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
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
        said = f"What was learned about {about}. Use it for work on {about}."
        return _front_matter((("name", slug_of(folder, "skill")), ("description", said)))
    if name.lower().endswith(".instructions.md"):
        return _front_matter((("applyTo", "**"),))
    return ""


def head_lines(text: str, *, named: bool) -> tuple[str, ...]:
    """Return the lines by which a title or a description stands at the head of a memory's file;
    `named`: as a name.
    """
    scalar = _scalar(text)
    return (*([f"name: {scalar}"] if named else []), f"description: {scalar}", f"# {text}")


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
    lines = (f"{name}: {_scalar(one_line(value))}" for name, value in facts)
    return "\n".join(("---", *lines, "---", ""))


def _scalar(text: str) -> str:
    """Write a value so that every YAML reader takes it for this text: bare, or in JSON's quotes."""
    if _PLAIN.match(text) and text.lower() not in _LIKE_A_VALUE and not text.endswith(" "):
        return text
    return json.dumps(text, ensure_ascii=False)


# What promoting would do, as values: where to, which texts, which files change how.


TargetKind = Literal["playbook", "block", "memory", "skill"]

_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Target:
    """Where a memory is promoted to.

    `where` is a section (or BOOK/SECTION) of a playbook, the file of a managed block, or the folder
    of memory or skill files (empty: the usual one). `title`, `slug` and `about` name and describe a
    memory file or a skill (empty: made from the memory). `kept` says that both stay as a person
    typed them, secrets and all. `section` is the heading of a file that its block goes under
    (empty: it brings its own).
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
class BookEdit:
    """Bullets added to a section of a playbook, and its text before and after."""

    book: str
    section: str
    contents: tuple[str, ...]
    before: str
    after: str

    def lines(self, context: int = 2) -> tuple[DiffLine, ...]:
        return diff_texts(self.before, self.after, context)


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
    others: int = 0
    most: int = 0
    why: str = ""

    @classmethod
    def of(
        cls, file: str, texts: Sequence[str], others: int = 0, most: int = 0, why: str = ""
    ) -> "Size":
        size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
        return cls(file, sum(map(tokens_of, texts)), size, others, most, why)

    @property
    def is_over(self) -> bool:
        """Whether it is larger than its tool takes."""
        return 0 < self.most < self.bytes


@dataclass(frozen=True, slots=True)
class PromotionPlan:
    """Everything that promoting would write, and nothing else is written.

    `memories` are the records as they are, `promoted` as they would be, in the same order.
    `outside` are full paths of files outside the project, which need a yes; `flagged` are memories
    whose text should not travel, and that nobody let pass. `sizes` say how large the files become
    against what their tools take.
    """

    target: Target
    memories: tuple[Memory, ...]
    promoted: tuple[Memory, ...]
    placements: tuple[Placement, ...]
    files: Moves = NO_MOVES
    book: BookEdit | None = None
    outside: tuple[str, ...] = ()
    flagged: tuple[Held, ...] = ()
    warnings: tuple[str, ...] = ()
    sizes: tuple[Size, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(memory.id for memory in self.memories)

    @property
    def to(self) -> tuple[str, ...]:
        """Where the memories go, each place once."""
        return tuple(dict.fromkeys(memory.promoted_to or "" for memory in self.promoted))

    @property
    def approves(self) -> tuple[str, ...]:
        """The ids of those that are approved first, because nobody has confirmed them yet."""
        return tuple(memory.id for memory in self.memories if memory.status != "confirmed")

    @property
    def text(self) -> str:
        """The exact text that is added, entry after entry."""
        return "\n".join(placement.text for placement in self.placements)

    def changes(self, context: int = 2) -> Iterator[tuple[str, tuple[DiffLine, ...]]]:
        """Yield every file or playbook that changes, by name, with its differences."""
        for edit in self.files.edits:
            yield edit.name, edit.lines(context)
        if self.book is not None:
            yield f"playbook {self.book.book}", self.book.lines(context)

    def same_as(self, other: "PromotionPlan") -> bool:
        """Tell whether both would write the same over the same; when they would do it is left
        aside.
        """
        return _timeless(self) == _timeless(other)


class ChangedMeanwhile(WorkbenchError):
    """What was shown is no longer what would be written; nothing was."""


def _timeless(plan: PromotionPlan) -> tuple[object, ...]:
    placements = tuple(replace(p, created_at=_NO_TIME) for p in plan.placements)
    return plan.target, plan.memories, placements, plan.files.edits, plan.book


# What stands in a file already where memories are promoted to: lines that say nearly the same or
# otherwise, its size.
#
# What a file brings in by `@` is read with it: agents load both as one.


MOST, DEEPEST = 20, 5
"""Files that are read with one, and how far they may bring in each other."""

_IMPORT = re.compile(r"^[ \t]*(?:[-*+][ \t]+)?@(?P<path>[^\s@`]+)[ \t]*$", re.MULTILINE)
_LIMITS = (
    (
        re.compile(r"AGENTS(?:\.override)?\.md", re.IGNORECASE),
        32_768,
        "Codex loads no more of such files together",
    ),
    (
        re.compile(r"CLAUDE(?:\.local)?\.md", re.IGNORECASE),
        40_000,
        "Claude Code warns of a larger one",
    ),
    (re.compile(r"\.windsurfrules", re.IGNORECASE), 12_000, "Windsurf reads no more of it"),
    (
        re.compile(r"copilot-instructions\.md", re.IGNORECASE),
        4_000,
        "Copilot's reviews read no more of it",
    ),
    (
        re.compile(r"SKILL\.md", re.IGNORECASE),
        20_000,
        "move details of a longer skill into separate files",
    ),
    (re.compile(r"MEMORY\.md", re.IGNORECASE), MAX_BYTES, "Claude Code loads no more of it"),
)
"""The bytes that tools take of a file, by its name."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A line that says nearly what a memory says, or, where it `differs`, perhaps something else."""

    file: str
    line: int
    differs: bool = False

    def __str__(self) -> str:
        says = "may contradict this" if self.differs else "says nearly the same"
        return f"{self.file}:{self.line} {says}."


def texts_of(place: Place, places: Places) -> dict[str, str]:
    """Return the text of a file, and of those that it brings in, by how they are called; unreadable
    ones are left.
    """
    found: dict[str, str] = {}
    waiting = [(place, 0)]
    while waiting and len(found) < MOST:
        one, depth = waiting.pop(0)
        text = _text(one)
        if text is None or one.stored in found:
            continue
        found[one.stored] = text
        for match in _IMPORT.finditer(text) if depth < DEEPEST else ():
            try:
                waiting.append(
                    (places.named(one.path.parent / Path(match["path"]).expanduser()), depth + 1)
                )
            except (WorkbenchError, OSError, ValueError, RuntimeError):
                continue
    return found


def _text(place: Place) -> str | None:
    try:
        data = read(place.path)
        return None if data is None else decoded(data, place.stored)[0]
    except (WorkbenchError, OSError):
        return None


def brings_in(text: str, name: str) -> bool:
    """Tell whether a file brings in another one of its folder by `@`."""
    return any(found["path"].removeprefix("./") == name for found in _IMPORT.finditer(text))


def neighbours(texts: dict[str, str], contents: Sequence[str]) -> Iterator[Neighbour]:
    """Yield the lines that are much like one of some texts, each line once: those of our block,
    too.
    """
    words = [(content, word_set(content)) for content in contents]
    for file, text in texts.items():
        for line, said in _statements(text):
            has = word_set(said)
            alike = [
                content
                for content, own in words
                if own and has and much_alike(content, said, own, has)
            ]
            if alike:
                yield Neighbour(file, line, all(conflicts(content, said) for content in alike))


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield what a file says, with its lines."""
    yield from (
        (one.line, one.text) for one in markdown.statements(text) if one.kind in ("item", "text")
    )


def size_of(place: Place, texts: dict[str, str], added: Sequence[str]) -> Size:
    """Return how large a file becomes with what it brings in and some texts that are added."""
    most, why = next(
        ((most, why) for name, most, why in _LIMITS if name.fullmatch(place.path.name)), (0, "")
    )
    return Size.of(place.stored, (*texts.values(), *added), max(len(texts) - 1, 0), most, why)


def over_limit(size: Size) -> str:
    """Say that a file is larger than its tool takes; empty when it is not."""
    if not size.is_over:
        return ""
    beside = f" with the {size.others} it brings in" if size.others else ""
    return f"{size.file}{beside} is then {size.bytes:,} bytes, of {size.most:,}: {size.why}."


def size_said(size: Size) -> str:
    """Say how large a file becomes, against what its tool takes where that is known."""
    beside = f" with the {size.others} it brings in" if size.others else ""
    limit = f", {size.bytes:,} of {size.most:,} bytes" if size.most else ""
    return f"{size.file}{beside} is then {size.tokens:,} tokens{limit}."


# From a memory and a target to the texts and their places.


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
        self,
        placing: Placing,
        playbooks: Callable[[], Playbooks],
        now: datetime,
        mask: Callable[[str], str],
    ) -> None:
        self._mask = mask
        self._placing = placing
        self._playbooks = playbooks
        self._now = now

    def of(self, memories: Sequence[Memory], target: Target) -> Writing:
        """Return what memories become at a target; raises `WorkbenchError` when they cannot go
        there.
        """
        if len(memories) > 1 and (target.title or target.slug or target.about):
            raise WorkbenchError(
                "A title and a name are for one memory.", "Promote the others without them."
            )
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
        contents = tuple(content_of(memory) for memory in memories)
        after = before
        for content in contents:
            after = operations.apply(after, operations.Add(section.id, content), self._now)
        known = {bullet.id for bullet in before.bullets}
        paths = [f"{before.book.id}/{b.id}" for b in after.bullets if b.id not in known]
        paths.sort(key=lambda path: int(path.rpartition("-")[2]))
        made = zip(memories, paths, contents, strict=True)
        placements = tuple(
            self._placement(memory.id, "bullet", path, content) for memory, path, content in made
        )
        edit = BookEdit(
            before.book.id,
            section.id,
            contents,
            ace.write_playbook(before),
            ace.write_playbook(after),
        )
        return Writing(placements, tuple(paths), edit)

    # Files

    def _block(self, memories: Sequence[Memory], target: Target) -> Writing:
        if not target.where.strip():
            raise WorkbenchError("No file was named.", "Name a Markdown file, such as CLAUDE.md.")
        place = self._placing.places.named(Path(target.where))
        entries = [(memory, managed_block.item(content_of(memory))) for memory in memories]
        placements = self._entries(place, entries, target.section)
        there = texts_of(place, self._placing.places)
        near = neighbours(there, [content_of(memory) for memory in memories])
        size = size_of(place, there, [entry for _, entry in entries])
        said = (
            over_limit(size),
            *self._front_missing(place),
            *self._elsewhere(place, there, target.section),
        )
        warnings = (*map(str, near), *(one for one in said if one))
        return Writing(
            placements, tuple(place.stored for _ in memories), warnings=warnings, sizes=(size,)
        )

    def _front_missing(self, place: Place) -> Iterator[str]:
        """Say that a file which is there lacks the front matter that its tool asks for."""
        data = read(place.path)
        needs = file_head(place.path.name, place.path.parent.name)
        if (
            data is not None
            and needs
            and not markdown.front_matter(decoded(data, place.stored)[0])[1]
        ):
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
            title, about = target.title or title_of(memory), target.about or about_of(memory)
            place = self._new_file(memory, target, title, lambda name: folder / f"{name}.md", files)
            files.append(self._file(memory, place, topic_file(memory, one_line(title), about)))
            line = index_line(one_line(title), place.path.name, about)
            entries.append((memory, managed_block.item(line)))
        placements = (*files, *self._entries(index, entries))
        lines = [entry for _, entry in entries]
        there = texts_of(index, self._placing.places)
        near = neighbours(there, [content_of(memory) for memory in memories])
        warnings = (*map(str, near), *_cut(index, lines))
        sizes = (size_of(index, there, lines),)
        return Writing(
            placements, tuple(file.path for file in files), warnings=warnings, sizes=sizes
        )

    def _skills(self, memories: Sequence[Memory], target: Target) -> Writing:
        folder = self._folder(target.where or SKILL_FOLDER)
        files: list[Placement] = []
        for memory in memories:
            title, about = target.title or title_of(memory), target.about or about_of(memory)
            place = self._new_file(memory, target, title, lambda name: folder / name / SKILL, files)
            text = skill_file(memory, place.path.parent.name, one_line(title), about)
            files.append(self._file(memory, place, text))
        sizes = tuple(
            Size.of(file.path, (file.text,), most=MOST_OF_SKILL, why=WHY_OF_SKILL) for file in files
        )
        return Writing(tuple(files), tuple(file.path for file in files), sizes=sizes)

    def _folder(self, name: str) -> Path:
        """Return a folder as it really is, so that all files in it are named alike."""
        return self._placing.places.named(Path(name) / MEMORY_INDEX).path.parent

    def _new_file(
        self,
        memory: Memory,
        target: Target,
        title: str,
        at: Callable[[str], Path],
        made: Sequence[Placement],
    ) -> Place:
        """Return the place of a file that is not there yet, under the asked name or one made from
        the title.
        """
        names = self._placing.places
        taken = {placement.path for placement in made}
        if target.slug:
            if not is_slug(target.slug):
                raise InvalidRecord(
                    f"“{target.slug}” cannot be the name.",
                    "Use small letters, digits and single hyphens.",
                )
            place = names.named(at(target.slug))
            if read(place.path) is not None:
                raise WorkbenchError(
                    f"{place.stored} exists already.", "Choose another name; nothing was written."
                )
            return place
        tried: set[str] = set()
        while True:
            name = slug_of(title, memory.id, tried)
            place = names.named(at(name))
            if place.stored not in taken and read(place.path) is None:
                return place
            tried.add(name)

    def _file(self, memory: Memory, place: Place, text: str) -> Placement:
        folders = missing_folders(place.path)
        return self._placement(
            memory.id, "file", place.stored, text, outside=place.outside, folders=folders
        )

    def _entries(
        self, place: Place, entries: Sequence[tuple[Memory, str]], section: str = ""
    ) -> tuple[Placement, ...]:
        """Return the placements of entries in the managed block of a file, as that file is now."""
        data = read(place.path)
        known = next(
            (p for p in self._placing.committed().values() if _is_entry_of(p, place)), None
        )
        if data is None:
            if section:
                raise WorkbenchError(
                    f"{place.stored} is a new file and has no sections yet.", "Nothing was written."
                )
            head = file_head(place.path.name, place.path.parent.name)
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
        return Placement(
            name,
            memory,
            kind,
            path,
            text,
            self._now,
            outside,
            created,
            lead,
            folders,
            section,
            head,
        )


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
            f"Several playbooks have a section “{name}”.", f"Name one of them: {names}."
        )
    return found[0]


def _is_entry_of(placement: Placement, place: Place) -> bool:
    return (
        placement.kind == "entry"
        and placement.path == place.stored
        and placement.outside == place.outside
    )


def _cut(index: Place, entries: Sequence[str]) -> tuple[str, ...]:
    """Say when new lines of an index fall below what Claude Code loads of it."""
    data = read(index.path)
    text = decoded(data, index.stored)[0] if data is not None else ""
    try:
        block = managed_block.find(text)
        after = managed_block.written(
            text, (*(block.items if block else ()), *entries), managed_block.lead_of(text)
        )
    except managed_block.BrokenBlock:
        return ()  # said with the file's name when the block is to be written
    placed, cut = managed_block.find(after), cut_at(after)
    line = after.count("\n", 0, placed.end) if placed is not None else 0
    if cut is None or line < cut[0]:
        return ()
    loaded = f"the first {MAX_LINES} lines or {MAX_BYTES:,} bytes"
    return (f"The new line of {index.stored} is line {line}: Claude Code loads only {loaded}.",)


# The places that suggest themselves for a promotion, with what is there now.


USUAL_FILES = ("CLAUDE.md", "AGENTS.md")
"""The files that agents read at the start, in the project's folder."""


def offers(placing: Placing, playbooks: Playbooks) -> tuple[Offer, ...]:
    """Return the usual files, memory files and skills, then every section of every playbook."""
    return (*_files(placing), *_sections(playbooks))


def _files(placing: Placing) -> Iterator[Offer]:
    project = placing.places.project
    if project is None:
        return
    yield from _usual(placing)
    folder = memory_folder(placing.places)
    yield Offer(Target("memory"), "memory file", "" if folder == "." else f"{folder}/")
    own = claude_memory(project)
    if own is not None:
        yield Offer(Target("memory", str(own)), "memory file of Claude Code", "outside the project")
    yield Offer(Target("skill"), "skill", f"{SKILL_FOLDER}/")


def _usual(placing: Placing) -> Iterator[Offer]:
    """Yield the usual files; one that another leads to by a link, or brings in, is the one place
    for both.
    """
    texts = {name: next(iter(texts_of(placing.places.named(Path(name)), placing.places).items()), (name, ""))
             for name in _there(placing)}  # fmt: skip
    leads = {
        (name, other)
        for name, (real, text) in texts.items()
        for other in texts
        if other != name and (real == other or brings_in(text, other))
    }
    for name in USUAL_FILES:
        if any(one == name and (other, one) not in leads for one, other in leads):
            continue
        from_others = [one for one, other in leads if other == name]
        said = [_state(placing, name), *(f"{one} leads to it" for one in from_others)]
        yield Offer(Target("block", name), name, ", ".join(part for part in said if part))


def _there(placing: Placing) -> Iterator[str]:
    """Yield the names of the usual files that can be read."""
    for name in USUAL_FILES:
        try:
            if read(placing.places.named(Path(name)).path) is not None:
                yield name
        except WorkbenchError:
            continue


def claude_memory(project: Path) -> Path | None:
    """Return the folder in which Claude Code keeps its own memory of a project, if there is one."""
    try:
        folder = (
            Path.home() / ".claude/projects" / re.sub(r"[^A-Za-z0-9]", "-", str(project)) / "memory"
        )
        return folder if folder.is_dir() else None
    except (OSError, RuntimeError):
        return None


def _state(placing: Placing, name: str) -> str:
    """Say what a file holds already; what is wrong with it is said when it is chosen."""
    try:
        data = read(placing.places.named(Path(name)).path)
        block = managed_block.find(decoded(data, name)[0]) if data is not None else None
    except WorkbenchError:
        return ""
    if data is None:
        return "a new file"
    count = len(block.entries) if block else 0
    return "1 entry" if count == 1 else f"{count} entries" if count else "no entries yet"


def _sections(playbooks: Playbooks) -> Iterator[Offer]:
    lines = playbooks.books()
    for line in lines:
        book = playbooks.open(line.book.id)
        for section in book.sections:
            count = len(book.in_section(section.id))
            bullets = "1 bullet" if count == 1 else f"{count} bullets"
            name = f"{line.book.name} › " if len(lines) > 1 else "playbook › "
            where = f"{book.book.id}/{section.id}"
            yield Offer(
                Target("playbook", where),
                f"{name}{section.title or section.key or '(no title)'}",
                bullets,
            )


UNCHANGED = "Nothing was changed."
_TO_MOVE = "To move it, take that back first: `workbench history {id}` lists it, `workbench undo --rev REV` does it."


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

    @property
    def project(self) -> Path | None:
        """The folder of the project that the store belongs to, if it belongs to one."""
        return self._placing.places.project

    @property
    def is_scratch(self) -> bool:
        """Whether that project is the demo's, to try things on."""
        return self._placing.places.is_scratch

    @property
    def usual_files(self) -> tuple[str, ...]:
        """The files that agents read, as one knows them."""
        return USUAL_FILES

    def offers(self) -> tuple[Offer, ...]:
        """Return the places that suggest themselves, with what is there now."""
        return offers(self._placing, self._playbooks())

    def plan(self, ids: Sequence[str], target: Target) -> PromotionPlan:
        """Return what promoting memories to a place would write; writes nothing.

        Raises `UnknownRecord`, `EditedBlock` for a managed block that was changed by hand, and
        `WorkbenchError` for a memory that cannot be promoted or a place that cannot be written.
        """
        memories = tuple(self._library.memories.get(id) for id in dict.fromkeys(ids))
        if not memories:
            raise WorkbenchError("Name at least one memory to promote.", UNCHANGED)
        now = self._context.now()
        mask = str if target.kept else self._safety.masked
        target = replace(target, title=mask(target.title), about=mask(target.about))
        for memory in memories:
            self._promoted(memory, "somewhere")
        found = Drafts(self._placing, self._playbooks, now, self._safety.masked).of(
            memories, target
        )
        new = {placement.id: placement for placement in found.placements}
        files = self._placing.planned(new)
        promoted = tuple(self._promoted(m, to) for m, to in zip(memories, found.to, strict=True))
        outside = tuple(dict.fromkeys(p.path for p in found.placements if p.outside))
        flagged = (*self._flagged(memories), *self._typed(memories[0], target))
        warnings = (*found.warnings, *files.remarks)
        return PromotionPlan(
            target,
            memories,
            promoted,
            found.placements,
            files,
            found.book,
            outside,
            flagged,
            warnings,
            found.sizes,
        )

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
            for record in (*plan.promoted, *self._stamped(plan), *self._answered(plan)):
                tx.put(record)
            self._add_bullets(plan)
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
            fresh = self.plan(plan.ids, plan.target)
        except Conflict:
            raise
        except WorkbenchError as error:
            raise ChangedMeanwhile(
                f"It can no longer be promoted: {error.message}", error.hint
            ) from error
        if not fresh.same_as(plan):
            what = next(
                (edit.name for edit in fresh.files.edits if edit not in plan.files.edits),
                "What is promoted",
            )
            raise Conflict(f"{what} was changed meanwhile.", "Nothing was written; look again.")

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

    def _stamped(self, plan: PromotionPlan) -> list[Placement]:
        now = self._context.now()
        return [replace(placement, created_at=now) for placement in plan.placements]

    def _answered(self, plan: PromotionPlan) -> list[Proposal]:
        """Return the open proposals about these memories that a promotion settles, as settled."""
        about = set(plan.ids)
        waiting = (
            p
            for p in self._library.proposals.all()
            if p.state == "open" and kind_of(p.kind).settled_by_promotion
        )
        settled = [p for p in waiting if p.evidence[:1] and p.evidence[0] in about]
        return [replace(p, state="accepted", decided_at=self._context.now()) for p in settled]

    def _add_bullets(self, plan: PromotionPlan) -> None:
        """Add bullets to the playbook, which joins the transaction that is open."""
        if plan.book is not None:
            adds = (operations.Add(plan.book.section, content) for content in plan.book.contents)
            self._playbooks().apply(plan.book.book, "promote", *adds)

    def _flagged(self, memories: Sequence[Memory]) -> tuple[Held, ...]:
        """Return the memories whose text should not travel; that it came in by import is no excuse
        here.
        """
        return self._safety.unpermitted(memories)

    def _typed(self, memory: Memory, target: Target) -> tuple[Held, ...]:
        """Return what the title and the description hold that a person typed for a promotion."""
        held = self._safety.check_typed(
            memory, [text for text in (target.title, target.about) if text]
        )
        return () if held is None else (held,)
