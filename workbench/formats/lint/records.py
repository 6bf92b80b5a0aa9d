"""Files of records in any format that is read: what the reader skipped, equal texts, references to nothing."""

from collections.abc import Iterator

from workbench.formats.lint.finding import Finding
from workbench.formats.model import Parsed
from workbench.formats.report import shown


def lint(parsed: Parsed, file: str) -> list[Finding]:
    """Return what is wrong with the records of a file; these are put right in the store or by their own tool."""
    skipped = [Finding(file, issue.line, "unreadable", issue.reason) for issue in parsed.issues if issue.records]
    return [*skipped, *_duplicates(parsed, file), *_dangling(parsed, file)]


def _duplicates(parsed: Parsed, file: str) -> Iterator[Finding]:
    bullets = [(b.id, b.content) for book in parsed.playbooks for b in book.bullets]
    first: dict[str, str] = {}
    for id, content in (*((m.id, m.content) for m in parsed.memories), *bullets):
        same = first.setdefault(" ".join(content.casefold().split()), id)
        if same != id:
            yield Finding(file, 1, "duplicate-text", f"{shown(id)} says the same as {shown(same)}")


def _dangling(parsed: Parsed, file: str) -> Iterator[Finding]:
    """Find citations and cross-references to records that the file does not hold."""
    known = {m.id for m in parsed.memories} | {alias for m in parsed.memories for alias in m.aliases}
    for memory in parsed.memories:
        for id in dict.fromkeys((*memory.citations, *memory.related)):
            if id not in known:
                message = f"{shown(memory.id)} rests on {shown(id)}, which is not in the file"
                yield Finding(file, 1, "dangling-reference", message)
