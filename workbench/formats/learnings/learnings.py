"""`.learnings` files: LEARNINGS.md, ERRORS.md and FEATURE_REQUESTS.md, three dialects in one file."""

import re
from collections.abc import Iterator
from pathlib import PurePath

from workbench.core.files.format import Detection, Format, Parsed, ReadContext
from workbench.core.files.reason import Reason
from workbench.core.files.textedit import Edit, applied, newline_of
from workbench.core.free_names import FreeNames
from workbench.core.stream.memory import Memory
from workbench.formats.learnings.blocks import Block, blocks
from workbench.formats.learnings.entry import NAME, edits, entry, kept_block, name_of, rendered
from workbench.formats.shared.records import NO_CONTEXT, at_time_of
from workbench.formats.shared.report import Report, shown

_NAMED = re.compile(r"^###?[ \t]+(?:\[(?:LRN|ERR|FEAT)-|(?:LRN|ERR|FEAT)-[0-9])", re.MULTILINE)
_DATED = re.compile(
    r"^##[ \t]+[0-9]{4}-[0-9]{2}-[0-9]{2}\b.*\r?\n\s*[-*][ \t]+\*\*(?:Category|Context|Status)", re.MULTILINE
)
_NAMES = frozenset({"LEARNINGS.MD", "ERRORS.MD", "FEATURE_REQUESTS.MD"})
_HEAD = "# Learnings\n\n---\n\n"
_RULE = "---"


def detect(head: str, path: str) -> Detection:
    """Sure when a heading has a learning's id, or a date and the fields of an entry."""
    if _NAMED.search(head):
        return Detection(NAME, 0.96, "headings with [LRN-…], [ERR-…] or [FEAT-…]")
    if _DATED.search(head):
        return Detection(NAME, 0.85, "dated headings with **Category** or **Context** below")
    if PurePath(path).name.upper() in _NAMES and head.lstrip("\ufeff \r\n").startswith("#"):
        sure = 0.8 if PurePath(path).parent.name == ".learnings" else 0.5
        return Detection(NAME, sure, "named as a .learnings file")
    if head.strip("\ufeff \r\n").replace("\r\n", "\n") == _HEAD.strip():
        return Detection(NAME, 0.5, "the beginning of one without entries")
    return Detection(NAME, 0.0, "no heading of an entry")


def read(text: str, context: ReadContext) -> Parsed:
    """Read every entry that can be read; other sections are kept in the file and remarked upon."""
    report = Report(context.file)
    found: list[Memory] = []
    for block, name in _named(text, report):
        try:
            memory, notes = entry(block, name, text, context)
        except ValueError as reason:
            report.skip(block.line, reason)
            continue
        found.append(memory)
        report.mapped_all(notes)
    return report.parsed(NAME, memories=tuple(found))


def _named(text: str, report: Report) -> Iterator[tuple[Block, str]]:
    """Yield the entries with their ids; an id used before is numbered."""
    names, first = FreeNames(), dict[str, int]()
    for block in blocks(text):
        if not isinstance(block, Block):
            report.kept(block.number, "a section that is no entry")
            continue
        name = name_of(block)
        unique = names.give(name)
        if unique != name:
            report.remark(
                block.line,
                Reason(
                    "the id {} was already used on line {}: read as {}",
                    (
                        shown(name),
                        first[name],
                        unique,
                    ),
                ),
            )
        first[unique] = block.line
        yield block, unique


def write(parsed: Parsed, original: str | None = None) -> str:
    """Write the memories as entries; with `original`, only what changed in them is new."""
    if original is None:
        return _HEAD + "".join(f"{_text(memory)}\n\n{_RULE}\n\n" for memory in parsed.memories).rstrip("\n") + "\n"
    new = {memory.id: memory for memory in parsed.memories}
    out: list[Edit] = []
    known: set[str] = set()
    for block, name in _named(original, Report("")):
        after = new.get(name)
        try:
            before, _ = entry(block, name, original, at_time_of(after) if after else NO_CONTEXT)
        except ValueError:
            continue
        known.add(name)
        out += edits(block, original, before, after) if after else [(block.start, block.end, "")]
    added = [_text(memory) for name, memory in new.items() if name not in known]
    return _with(applied(original, out), added)


def _text(memory: Memory) -> str:
    """Return the text of an entry without an original: the block it had, changed as the memory was."""
    kept = kept_block(memory)
    block = next((found for found in blocks(kept) if isinstance(found, Block)), None) if kept else None
    if kept is None or block is None:
        return rendered(memory)
    try:
        before, _ = entry(block, memory.id, kept, at_time_of(memory))
    except ValueError:
        return rendered(memory)
    lines = applied(kept, edits(block, kept, before, memory)).rstrip().replace("\r\n", "\n").split("\n")
    while lines and lines[-1].strip() in ("", _RULE):
        lines.pop()
    return "\n".join(lines)


def _with(text: str, added: list[str]) -> str:
    """Put entries at the end, parted by rules where the file has them."""
    if not added:
        return text
    newline, body = newline_of(text), text.rstrip()
    ruled = body.endswith(_RULE)
    gap = newline * 2
    parts = [part.replace("\n", newline) + (f"{gap}{_RULE}" if ruled else "") for part in added]
    end = newline if text.endswith("\n") or not text else ""
    return (body + gap if body else "") + gap.join(parts) + end


FORMAT = Format(NAME, ".learnings file (Markdown)", detect, read, write, suffix=".md")
