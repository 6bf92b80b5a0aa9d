"""claude-mem's export JSON: `{observations: [...], sessions: [...], summaries: [...], prompts: [...]}`."""

import re
from collections.abc import Iterable

from workbench.core.errors import UnreadableFile
from workbench.core.files.format import Detection, Format, Parsed, ReadContext
from workbench.core.files.reason import Unread
from workbench.core.stream.memory import Memory
from workbench.formats.claude_mem.row import NAME, ReadRow, observation, summary
from workbench.formats.shared.jsontree import Entry, Lines, Node, scan_file
from workbench.formats.shared.report import Report, shown

_OTHERS = {"sessions": "sessions", "prompts": "prompts"}
_INSIDE = frozenset({"observations", "summaries", *_OTHERS})
_LISTED = re.compile(r'"observations"\s*:\s*\[')
_EXPORT = re.compile(r'"(?:exportedAt|totalObservations)"\s*:')
_MARKS = re.compile(r'"(?:narrative|facts|concepts|files_modified|memory_session_id|created_at_epoch)"\s*:')


def detect(head: str, path: str) -> Detection:
    """Sure when an object says it is an export, or lists observations with their narrative."""
    del path
    if head.removeprefix("\ufeff").lstrip().startswith("{") and (_LISTED.search(head) or _EXPORT.search(head)):
        sure = 0.45 * bool(_EXPORT.search(head)) + 0.25 * bool(_MARKS.search(head)) + 0.25 * bool(_LISTED.search(head))
        return Detection(NAME, sure, "a JSON object of “observations”")
    return Detection(NAME, 0.0, "no JSON object of observations")


def read(text: str, context: ReadContext) -> Parsed:
    """Read every observation and session summary that can be read; sessions and prompts are counted and reported."""
    report, root, lines = Report(context.file), scan_file(text, context.file, _INSIDE), Lines(text)
    listed, told = root.inside("observations", "["), root.inside("summaries", "[")
    if listed is None and told is None:
        reason = f"{context.file} has no list of “observations”" + (f": {root.damage}." if root.damage else ".")
        raise UnreadableFile(reason, "Nothing was read from it.")
    found: dict[str, Memory] = {}
    for entry, row in (*_rows(listed, observation), *_rows(told, summary)):
        try:
            memory, notes = row(entry.value, context)
            if memory.id in found:
                raise Unread("{} was already read", shown(memory.id))
        except ValueError as reason:
            report.skip(lines.at(entry.start), reason)
            continue
        found[memory.id] = memory
        report.mapped_all(notes, entry.changes)
    _report_others(root, lines, report)
    if root.damage:
        report.skip(lines.at(root.damage_at), root.damage)
    return report.parsed(NAME, memories=tuple(found.values()))


def _rows(listed: Node | None, read: ReadRow) -> Iterable[tuple[Entry, ReadRow]]:
    return ((entry, read) for entry in listed.entries) if listed is not None else ()


def _report_others(root: Node, lines: Lines, report: Report) -> None:
    for name, what in _OTHERS.items():
        found = root.inside(name, "[")
        if found is not None and found.entries:
            number = len(found.entries)
            report.skip(lines.at(found.start), f"{what} are not read ({number:,} of them)", number)


FORMAT = Format(NAME, "claude-mem export (JSON)", detect, read)
