"""Documents: whole texts under a path, as agents and people keep them beside single memories.

One kind for what the store keeps itself (below `/memories`) and for files of a folder on disk: an
external memory session (source 002), a folder of notes.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal, NamedTuple

from workbench.core.document import Record
from workbench.core.files.lint import headings, lines
from workbench.core.files.memory_md import facts_of, front_matter
from workbench.core.tokens import tokens_of

ROOT = "/memories"
"""The folder below which the store's own documents have their paths."""

DocumentScope = Literal["overview", "detail", "messages"]
"""Which layer of an external memory a document is: always in the context, looked up, or the raw
conversation.
"""

OVERVIEW, DETAIL, MESSAGES, WORKING = "overview.md", "detail", "messages.jsonl", "working-memory"
"""The names of an external memory: its files and folders."""

HEADINGS = ("Current Task", "Key Decisions", "Known Context", "Pending Issues", "Recent Operations")
"""The sections of an overview, in order."""


class Document(Record, frozen=True):
    """A text under a path.

    `id` is the path: below `ROOT` for one that the store keeps, else relative to `origin`, the
    folder on disk.
    """

    id: str
    content: str
    created_at: datetime
    changed_at: datetime
    origin: str = ""
    version: int = 1

    @property
    def path(self) -> str:
        return self.id

    @property
    def session_id(self) -> str:
        """The session it belongs to; none."""
        return ""

    @property
    def facts(self) -> Mapping[str, str]:
        """What it says of itself in front matter or a META comment."""
        return facts_of(self.content)

    @property
    def sections(self) -> tuple["DocumentSection", ...]:
        return sections(self.content)


class DocumentSection(NamedTuple):
    """What stands below one heading, up to the next: from `line` to `end`, both counted from 1, and
    its tokens.

    `level` is the number of its `#`; what stands above the first heading has no title and level 0.
    """

    title: str
    level: int
    line: int
    end: int
    tokens: int


def sections(text: str) -> tuple[DocumentSection, ...]:
    """Return the sections of a Markdown text, by heading; code is looked over. An empty text has
    none.
    """
    if not text.strip("\ufeff \t\r\n"):
        return ()
    found = list(lines(text))
    _, skip = front_matter(text)
    heads = headings(line for line in found if line.number > skip)
    starts = [(one.line.number, one.line.start, one.title, one.depth) for one in heads]
    if not starts or text[: starts[0][1]].strip("\ufeff \t\r\n"):
        starts.insert(0, (1, 0, "", 0))
    stops = [(number - 1, start) for number, start, *_ in starts[1:]]
    stops.append((found[-1].number, len(text)))
    return tuple(
        DocumentSection(title, depth, number, end, tokens_of(text[start:stop]))
        for (number, start, title, depth), (end, stop) in zip(starts, stops, strict=True)
    )


def citation(path: str, line: int) -> str:
    """Return how a line of a document is cited: `detail/auth-design.md#L10`."""
    return f"{path}#L{line}"


def overview_template() -> str:
    """Return the text that the overview of a new session begins with (source 002, section 3.2)."""
    said = (
        "What are you working on?",
        "Important decisions made and why",
        "Project structure, tech stack, key files",
        "Blockers or open questions",
        "Quick summary of recent actions",
    )
    parts = (f"## {title}\n<!-- {about} -->\n" for title, about in zip(HEADINGS, said, strict=True))
    return "# Working Memory\n\n" + "\n".join(parts)


# What a store knows of folders of documents on disk: which it follows, and what it changed in their
# files.


class FollowedFolder(Record, frozen=True):
    """A folder of documents that is looked through; `id` is its absolute path with links followed."""

    id: str
    at: datetime
    version: int = 1


class EditedFile(Record, frozen=True):
    """The last change that was made to a file from here, by the hashes of its bytes (empty: there
    is no such file).

    `id` is its absolute path. `was` is what it held before this change, `sha256` what it holds
    since. The bytes themselves are kept outside the store, so that no secret of a file gets into
    it; without them there is no way back. `turn` counts its changes, `folders` is how many folders
    were made for it.
    """

    id: str
    sha256: str
    was: str
    at: datetime
    turn: int = 1
    folders: int = 0
    version: int = 1
