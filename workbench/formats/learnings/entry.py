"""One .learnings entry: from a block to a memory, and the edits that make the block say what a memory says."""

import re
from collections.abc import Iterator
from datetime import datetime

from workbench.core.files.format import ReadContext
from workbench.core.files.textedit import BLANKS, Edit, Span, newline_of, raw
from workbench.core.record import iso
from workbench.core.stream.memory import FILE_KEY, Memory, Status
from workbench.formats.learnings.blocks import BODY, METADATA, Block
from workbench.formats.lifecycle import values
from workbench.formats.lifecycle.values import Notes
from workbench.formats.memory_streams.nodes import slug
from workbench.formats.shared.reading import checked, digest, rating
from workbench.formats.shared.records import file_part
from workbench.formats.shared.report import shown

NAME = "learnings"
_SAYS = ("Summary", "Requested Capability", "Context", "Learning", "Details", "Error", "User Context", BODY)
_TYPES = {
    "correction": "correction", "insight": "insight", "knowledge_gap": "discovery", "best_practice": "convention",
    "ERR": "failure",
}  # fmt: skip
_PRIORITIES = {"low": 3.0, "medium": 5.0, "high": 7.0, "critical": 9.0}
_STATUSES: dict[str, Status] = {
    "pending": "candidate", "in_progress": "candidate", "resolved": "confirmed", "promoted": "promoted",
    "promoted_to_skill": "promoted", "wont_fix": "archived",
}  # fmt: skip
_WRITTEN = {"signal": "pending", "candidate": "pending", "confirmed": "resolved", "promoted": "promoted",
            "archived": "wont_fix"}  # fmt: skip
_HELD = ("Status", "Priority", "Category")
_WRITES = frozenset((*_HELD, "Logged", "Summary", METADATA, BODY))
"""What a new block says by other means than the notes of a memory."""
_LONG = frozenset({
    "Details", "Suggested Action", "Resolution", "Requested Capability", "Context", "Learning", "Error", "User Context",
    "Suggested Fix", "Complexity Estimate", "Suggested Implementation",
})  # fmt: skip
"""The parts of an entry that are sections, however short they are."""
_PART = re.compile(r"[A-Z][\w&/-]*(?: [\w&/-]+){0,5}")
"""How the parts of an entry are called; notes of other kinds are not written."""
_ID_DATE = re.compile(r"-((?:19|20)[0-9]{2})([0-9]{2})([0-9]{2})(?:-|$)")


def entry(block: Block, name: str, text: str, context: ReadContext) -> tuple[Memory, Notes]:
    """Read one block as the memory called `name`. Raises `ValueError` when it does not say anything."""
    notes: Notes = []
    said, content = content_of(block)
    field = {key: value.text for key, value in block.fields.items()}
    title = block.title.text if said != "" else ""
    category = field.get("Category", "")
    if not category and re.fullmatch(r"[\w.-]+", title) and not block.dated:
        category, title = title, ""
    kind = _TYPES.get(block.id.partition("-")[0]) or _TYPES.get(category.lower(), "general")
    created = _created(block, context, notes)
    tags = (field.get("Area", ""), block.tag)
    status = _status(field.get("Status"), notes)
    memory = Memory(
        id=name,
        content=content.text,
        created_at=created,
        last_accessed_at=created,
        summary=title,
        memory_type="semantic",
        observation_type=kind,
        category=category,
        tags=tuple(tag for tag in tags if tag),
        section=block.under,
        importance_score=_importance(field.get("Priority"), kind, content.text, context, notes),
        status=status,
        archived_reason="rejected" if status == "archived" else None,
        metadata={
            **_rest(block, said),
            FILE_KEY: {"format": NAME, "name": title, "block": text[block.start : block.end].rstrip()},
        },
    )
    return checked(memory), notes


def content_of(block: Block) -> tuple[str, Span]:
    """Return which part of a block is the content (empty: its title) and where that stands."""
    for name in _SAYS:
        found = block.sections.get(name) or block.fields.get(name)
        if found is not None and found.text:
            return name, found
    return "", block.title


def _rest(block: Block, said: str) -> dict[str, object]:
    """Return the parts of a block that a memory has no field for."""
    out: dict[str, object] = {}
    for part in (block.fields, block.sections, block.meta):
        for name, value in part.items():
            if name != said and name not in _HELD and name not in out and value.text:
                out[name] = value.text
    return out


def _created(block: Block, context: ReadContext, notes: Notes) -> datetime:
    found = _ID_DATE.search(block.id)
    logged = block.fields.get("Logged") or block.meta.get("First-Seen") or block.fields.get("First-Seen")
    named = block.id if block.dated else "-".join(found.groups()) if found else ""
    for text in (logged.text if logged else "", named):
        try:
            at, _ = values.time(text)
        except ValueError:
            continue
        if isinstance(at, datetime):
            return at
    notes.append(("created_at", "set to the time of the import, the entry has none"))
    return context.now


def _status(text: str | None, notes: Notes) -> Status:
    known = _STATUSES.get((text or "").strip().lower())
    if text and known is None:
        notes.append(("Status", f"unknown status {shown(text)} read as candidate"))
    elif known is not None:
        notes.append(("Status", f"“{text}” read as “{known}”"))
    return known or ("candidate" if text else "signal")


def _importance(text: str | None, kind: str, content: str, context: ReadContext, notes: Notes) -> float:
    known = _PRIORITIES.get((text or "").strip().lower())
    if known is None:
        return rating(context, kind, content, notes)
    notes.append(("Priority", "low, medium, high, critical read as importance 3, 5, 7, 9"))
    return known


def edits(block: Block, text: str, old: Memory, new: Memory) -> list[Edit]:
    """Return what to change in `text` so that a block that said `old` says `new`."""
    out, newline = list[Edit](), newline_of(text)
    said, content = content_of(block)
    if new.content != old.content:
        out.append((content.start, content.end, _fitted(new.content, block, said, newline)))
    if block.item:
        return out  # a list's item says nothing else
    if new.summary != old.summary and said and old.summary:
        out.append((block.title.start, block.title.end, " ".join(new.summary.split())))
    if new.status != old.status:
        out.append(_field(block, "Status", _WRITTEN[new.status], newline))
    if new.importance_score != old.importance_score:
        out.append(_field(block, "Priority", _priority(new.importance_score), newline))
    if new.category != old.category:
        place = block.title if "Category" not in block.fields and old.category == block.title.text else None
        flat = " ".join(new.category.split())
        out.append((place.start, place.end, flat) if place else _field(block, "Category", flat, newline))
    for part in (block.fields, block.sections, block.meta):
        for name, value in part.items():
            now = new.metadata.get(name)
            if old.metadata.get(name) == value.text and isinstance(now, str) and now != value.text:
                written = raw(now, newline) if part is block.sections else " ".join(now.split())
                out.append((value.start, value.end, written))
    return out


def _fitted(content: str, block: Block, said: str, newline: str) -> str:
    if block.item:
        parts = re.sub(r"\n\s*\n", "\n\n", content.strip().replace("\r", "")).split("\n")
        return newline.join((parts[0], *(f"  {part.strip()}" if part.strip() else "" for part in parts[1:])))
    if said in block.sections:
        return raw(content, newline)
    if said:
        return (newline + "  ").join(part.strip() for part in content.strip().split("\n") if part.strip())
    return " ".join(content.split())


def _field(block: Block, name: str, value: str, newline: str) -> Edit:
    found = block.fields.get(name)
    if found is not None:
        return (found.start, found.end, value)
    dash = "" if not block.fields or "Logged" in block.fields else "- "
    gap = newline if block.fields else newline * 2
    return (block.fields_end, block.fields_end, f"{gap}{dash}**{name}**: {value}")


def _priority(score: float) -> str:
    return min(_PRIORITIES, key=lambda name: abs(_PRIORITIES[name] - score))


def name_of(block: Block) -> str:
    """Name the memory of a block: what stands in its brackets, or its date and title, or date and first words."""
    if block.item:
        said = block.title.text or block.sections[BODY].text
        return f"lrn-{block.id}-{slug(said) or digest(said)}"
    return f"lrn-{block.id}-{slug(block.title.text) or 'untitled'}" if block.dated else block.id


def rendered(memory: Memory) -> str:
    """Write a memory without a block of its own as one of the newest dialect, with the notes that name its parts."""
    day = iso(memory.created_at)[:10]
    known = re.fullmatch(r"[A-Z]+-[\w-]+", memory.id)
    name = memory.id if known else f"LRN-{day.replace('-', '')}-{digest(memory.id).upper()}"
    title = " ".join(memory.category.split()) or memory.observation_type
    return "\n".join(
        (
            f"## [{name}] {title}", "", f"**Logged**: {iso(memory.created_at)}",
            f"**Priority**: {_priority(memory.importance_score)}", f"**Status**: {_WRITTEN[memory.status]}",
            *_noted(memory),
        )
    )  # fmt: skip


def _noted(memory: Memory) -> Iterator[str]:
    """Yield the lines of a new block below its status: the area, the content, what else it holds."""
    notes = {
        name: value for name, value in memory.metadata.items()
        if isinstance(value, str) and value.strip(BLANKS) and name not in _WRITES and _PART.fullmatch(name)
    }  # fmt: skip
    area = " ".join(notes.pop("Area", "").split())
    yield from (f"**Area**: {area}",) if area else ()
    yield from ("", "### Summary", raw(memory.content, "\n"))
    short = {name: value for name, value in notes.items() if name not in _LONG and "\n" not in value and value.strip()}
    for name in (name for name in notes if name not in short):
        yield from ("", f"### {name}", raw(notes[name], "\n"))
    if short:
        yield from ("", f"### {METADATA}", *(f"- {name}: {' '.join(value.split())}" for name, value in short.items()))


def kept_block(memory: Memory) -> str | None:
    """Return the text of the block that a memory was read from."""
    found = (file_part(memory, NAME) or {}).get("block")
    return found if isinstance(found, str) else None
