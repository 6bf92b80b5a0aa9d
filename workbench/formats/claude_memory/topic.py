"""The memories of Claude Code: a topic file with front matter, or a statement in MEMORY.md or CLAUDE.md."""

import re
from dataclasses import dataclass

from workbench.core.files.format import ReadContext
from workbench.core.files.reason import Unread
from workbench.core.files.textedit import lines
from workbench.core.stream.memory import FILE_KEY, MAX_KEPT, Memory, Source
from workbench.core.text import clean_for_store
from workbench.formats.lifecycle.entry import content_id
from workbench.formats.lifecycle.values import Notes
from workbench.formats.memory_streams.nodes import slug
from workbench.formats.shared import markdown
from workbench.formats.shared.markdown import Statement
from workbench.formats.shared.reading import COUNTS, checked, created_at, digest, place, rating, status_in, votes_in

NAME = "claude-memory"
PREFIX = "cc"
"""How the ids of its records begin."""

LINK = (
    r"[-*+][ \t]+\[(?P<title>[^\]\n]{1,300})\]\((?P<target>[^()\s]{1,300}\.md)\)"
    r"(?:[ \t]*(?:[—–:|]|-{1,2})[ \t]*(?P<hook>(?:[^\n \t]|[ \t]++(?=[^\n \t]))*+))?[ \t]*$"
)
"""A link to a topic file to the end of its line; blanks are passed once, so that a line of them is no work."""

INDEX_LINE = re.compile(rf"[ \t]*{LINK}")
KINDS = {"user": "general", "feedback": "correction", "project": "general", "reference": "general"}
"""The types of topic files, and what kind of observation each is."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic file: its name as the index has it, its text, and the front matter that takes `skip` lines of it."""

    name: str
    text: str
    facts: dict[str, str]
    skip: int

    @property
    def body(self) -> str:
        """The text below the front matter."""
        kept = (line.text for line in lines(self.text) if line.number > self.skip)
        return clean_for_store("\n".join(kept).strip())


def linked(target: str, context: ReadContext) -> Topic | None:
    """Return the topic file that an index line names, when it can be read."""
    text = context.beside(target)
    if text is None:
        return None
    facts, skip = markdown.front_matter(text)
    return Topic(target, text, facts, skip)


def topic(found: Topic, title: str, hook: str, context: ReadContext) -> tuple[Memory, Notes]:
    """Read a topic; `title` and `hook` are what the index says about it. Raises `ValueError`."""
    notes: Notes = []
    if len(found.body) > MAX_KEPT:
        raise Unread("the file {} has more than {} characters", found.name, f"{MAX_KEPT:,}")
    kind = found.facts.get("type", "")
    observation_type = KINDS.get(kind, "general")
    created = created_at(found.facts, ("created", "date", "created_at", "modified", "updated"), context, notes)
    kept = {name: value for name, value in found.facts.items() if name not in COUNTS}
    said = {"title": title, "hook": hook, "topic": found.name, **kept}
    helpful, harmful = votes_in(found.facts)
    memory = Memory(
        id=_id(slug(re.sub(r"\.md$", "", found.name, flags=re.IGNORECASE)) or digest(found.name), context),
        content=found.body,
        created_at=created,
        last_accessed_at=created,
        summary=" ".join((hook or found.facts.get("description") or title or found.facts.get("name", "")).split()),
        memory_type="semantic",
        observation_type=observation_type,
        category=kind,
        status=status_in(found.facts),
        importance_score=rating(context, observation_type, found.body, notes),
        source=Source(file=found.name),
        helpful_imported=helpful,
        harmful_imported=harmful,
        metadata={
            **{name: value for name, value in said.items() if value},
            FILE_KEY: {"format": NAME, "name": found.name},
        },
    )
    return checked(memory), notes


def statement(one: Statement, context: ReadContext) -> tuple[Memory, Notes]:
    """Read a statement that links to no file. Raises `ValueError`."""
    notes: Notes = []
    memory = Memory(
        id=_id(content_id(one.text).removeprefix("imp-"), context),
        content=one.text,
        created_at=created_at({}, (), context, notes),
        last_accessed_at=context.now,
        memory_type="procedural",
        observation_type="instruction",
        section=one.section,
        importance_score=rating(context, "instruction", one.text, notes),
    )
    return checked(memory), notes


def _id(name: str, context: ReadContext) -> str:
    return "-".join(part for part in (PREFIX, place(context), name) if part)
