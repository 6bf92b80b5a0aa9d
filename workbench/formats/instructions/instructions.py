"""Instruction files: `AGENTS.md`, `CLAUDE.md`, `GEMINI.md`, rules of editors, `SKILL.md`.

They are documents that a tool loads whole, no heaps of memories: reading one makes no records. Its statements can be
asked for, and are candidates then.
"""

import re
from dataclasses import replace
from pathlib import PurePath

from workbench.core.files.format import Detection, Format, Parsed, ReadContext
from workbench.core.files.reason import Reason, Unread
from workbench.core.stream.memory import FILE_KEY, Memory, Source
from workbench.formats.instructions.imported import imported
from workbench.formats.instructions.statements import Said, statements
from workbench.formats.lifecycle.entry import content_id
from workbench.formats.lifecycle.values import Notes
from workbench.formats.shared.reading import checked, created_at, place, rating
from workbench.formats.shared.report import Report, shown

NAME = "instructions"
_NAMES = re.compile(
    r"(?:AGENTS?|CLAUDE|GEMINI|CLAUDE\.local|AGENTS\.override|SKILL|copilot-instructions|[\w.-]+\.instructions)\.md"
    r"|\.(?:cursor|windsurf|cline|roo)rules|[\w .-]+\.mdc",
    re.IGNORECASE,
)
_FOLDERS = re.compile(r"(?:^|/)\.(?:cursor|windsurf|clinerules|roo|github/instructions)(?:/[^/]+)*/[^/]+\.mdc?$")


def detect(head: str, path: str) -> Detection:
    """Sure by name only: their contents are anybody's Markdown."""
    del head
    name = PurePath(path).name
    if _NAMES.fullmatch(name):
        return Detection(NAME, 0.8, f"named {name if len(name) < 40 else 'as one'}")
    if _FOLDERS.search(PurePath(path).as_posix()):
        return Detection(NAME, 0.6, "in a folder of rules")
    return Detection(NAME, 0.0, "not named as an instruction file")


def read(text: str, context: ReadContext) -> Parsed:
    """Read no record; with `context.as_candidates` every statement that can be understood alone, imported ones, too."""
    report, found = Report(context.file), dict[str, Memory]()
    # Other files are a project's: what they are about is known where they lie.
    name = PurePath(context.path or context.file).name
    said = [(name, one) for one in statements(text, titled=name.lower() == "skill.md")]
    for file in imported(text, name, context.beside):
        read = "not read, as it is not there or outside the project" if file.text is None else "read as a part of it"
        report.remark(file.line, Reason("it imports {}: {}", (shown(file.path), read)))
        said += [(file.path, one) for one in statements(file.text or "")]
    if not context.as_candidates:
        report.remark(1, "an instruction file is a document that agents load whole: no record is made of it")
        return replace(report.parsed(NAME), offered=len(said))
    for name, one in said:
        try:
            memory, notes = _memory(one, name, context)
            if memory.id in found:
                raise Unread("{} was already read", shown(memory.line))
        except ValueError as reason:
            report.skip(one.line, reason)
            continue
        found[memory.id] = memory
        report.mapped_all(notes)
    return report.parsed(NAME, memories=tuple(found.values()))


def _memory(one: Said, name: str, context: ReadContext) -> tuple[Memory, Notes]:
    notes: Notes = []
    kind = "gotcha" if one.forbids else "instruction"
    parts = ("doc", place(context), content_id(one.text).removeprefix("imp-"))
    memory = Memory(
        id="-".join(part for part in parts if part),
        content=one.text,
        created_at=created_at({}, (), context, notes),
        last_accessed_at=context.now,
        memory_type="procedural",
        observation_type=kind,
        category="warning" if one.forbids else "",
        section=one.section,
        status="candidate",
        importance_score=rating(context, kind, one.text, notes),
        source=Source(file=name),
        metadata={"line": one.line, FILE_KEY: {"format": NAME, "name": name}},
    )
    return checked(memory), notes


FORMAT = Format(NAME, "instruction file (Markdown)", detect, read)
