"""ACE playbook text (source 003): sections of bullets `[id] helpful=n harmful=m :: text`, or `[id] text`."""

from typing import get_args

from workbench.core.files.format import Detection, Dialects, Format, Parsed, ReadContext
from workbench.core.playbook.book import Dialect, Playbook
from workbench.formats.ace import lines as ace_lines
from workbench.formats.ace.reading import read_playbook, split
from workbench.formats.ace.remarks import remarks
from workbench.formats.ace.writing import write_playbook
from workbench.formats.claude_memory.claude_memory import BEGIN
from workbench.formats.shared.report import Report

NAME = "ace"

__all__ = ["FORMAT", "NAME", "detect", "read", "read_playbook", "write", "write_playbook"]


def detect(head: str, path: str) -> Detection:
    """Sure when there are bullets with counts; headings alone make a playbook only when nothing else is there."""
    del path
    _, lines, _ = split(head)
    used = [line for line in lines if line.strip()]
    headings = sum(ace_lines.heading(line) is not None for line in used)
    forms = [found.form for line in used if (found := ace_lines.bullet(line)) is not None]
    if "counts" in forms:
        return Detection(NAME, 0.97, "bullets with helpful= and harmful= counts")
    if BEGIN in head:
        return Detection(NAME, 0.0, "holds the block that this program keeps in other files, and no counts")
    if forms:
        sure = 0.9 if headings and len(forms) + headings > len(used) / 2 else 0.4
        return Detection(NAME, sure, "bullets that begin with an id in brackets")
    if headings and headings == len(used):
        return Detection(NAME, 0.6, "nothing but section headings")
    return Detection(NAME, 0.0, "no line begins with an id in brackets")


def read(text: str, context: ReadContext) -> Parsed:
    """Read a playbook; text that belongs to no bullet is kept where it stands and remarked upon."""
    report = Report(context.file)
    playbook = read_playbook(text, file=context.file, report=report)
    return report.parsed(NAME, playbooks=(playbook,))


def write(parsed: Parsed, original: str | None = None) -> str:
    """Write the first playbook of `parsed` (an empty one when there is none); it remembers its own lines."""
    del original
    return write_playbook(parsed.playbooks[0]) if parsed.playbooks else ""


def _in_dialect(playbook: Playbook, dialect: Dialect | None) -> str:
    return write_playbook(playbook, dialect=dialect)


FORMAT = Format(
    NAME, "ACE playbook", detect, read, write, holds="playbook", endings=(".txt",),
    dialects=Dialects(get_args(Dialect), _in_dialect, remarks),
)  # fmt: skip
