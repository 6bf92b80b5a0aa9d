"""MEMORY.md: what falls below the cut, links that lead nowhere, and topic files that no line names."""

from collections.abc import Callable, Iterable, Iterator

from workbench.core.files.lint import Fix, LintFinding
from workbench.core.files.memory_md import MAX_BYTES, MAX_LINES, cut_at
from workbench.core.files.textedit import Line, lines, newline_of
from workbench.core.text import counted
from workbench.formats.claude_memory.topic import INDEX_LINE
from workbench.formats.shared.report import shown

OLDER = "older-memories.md"
"""The topic file that takes what falls below the cut."""


def lint(text: str, file: str, beside: Callable[[str], str | None], topics: Iterable[str]) -> list[LintFinding]:
    """Return what is wrong with an index; `topics` are the names of the Markdown files in its folder."""
    found = list(lines(text))
    named = {match["target"]: line for line in found if (match := INDEX_LINE.match(line.text))}
    return sorted(
        [
            *_links(named, text, file, beside),
            *_unindexed(named, topics, text, file, beside),
            *_over(found, text, file, beside),
        ],
        key=lambda finding: finding.line,
    )


def _links(named: dict[str, Line], text: str, file: str, beside: Callable[[str], str | None]) -> Iterator[LintFinding]:
    for target, line in named.items():
        if "://" not in target and beside(target) is None:
            fix = Fix("remove the line", (_without(line, text),))
            yield LintFinding(file, line.number, "broken-link", f"the file {shown(target)} is not there", fix)


def _unindexed(
    named: dict[str, Line], topics: Iterable[str], text: str, file: str, beside: Callable[[str], str | None]
) -> Iterator[LintFinding]:
    newline = newline_of(text)
    at = _room(named, text)
    start = newline if at and text[at - 1] not in "\n\ufeff" else ""
    for name in sorted(set(topics) - named.keys()):
        if name.rpartition(".")[0].isupper():
            continue  # MEMORY.md itself, README.md, LEARNINGS.md and the like are no topics
        if any(f"({name})" in line or f"@{name}" in line for line in text.split("\n")):
            continue
        title = _title(beside(name) or "", name)
        fix = Fix("add a line for it", ((at, at, f"{start}- [{title}]({name}){newline}"),))
        message = f"no line names the topic file {shown(name)}: it is never read"
        yield LintFinding(file, text.count("\n") + 1, "unindexed", message, fix)


def _room(named: dict[str, Line], text: str) -> int:
    """Return where a new line goes: below the other links, or the headings, and never where the file is cut off."""
    cut = cut_at(text)
    last = cut[0] - 1 if cut else MAX_LINES
    loaded = [line for line in named.values() if line.number < last]
    if loaded:
        return max(_next(line, text) for line in loaded)
    at = 1 if text.startswith("\ufeff") else 0
    for line in lines(text):
        if line.text.strip() and not line.text.startswith("#"):
            break
        at = _next(line, text)
    return at


def _over(found: list[Line], text: str, file: str, beside: Callable[[str], str | None]) -> Iterator[LintFinding]:
    cut = cut_at(text)
    if cut is None:
        return
    first, _ = cut
    below = [line for line in found if line.number >= first and line.text.strip()]
    what = counted(len(below), "line is", "lines are")
    message = f"{what} below the first {MAX_LINES} lines and {MAX_BYTES:,} bytes: Claude Code does not load them"
    yield LintFinding(file, first, "over-cap", message, _moved(found, first, text, beside))


def _moved(found: list[Line], first: int, text: str, beside: Callable[[str], str | None]) -> Fix:
    """Move what is below the cut, and the last lines above it that the new link needs the room of, to a topic file."""
    newline = newline_of(text)
    link = f"- [Older memories]({OLDER}) — moved here because the index was too long{newline}"
    size, keep = 0, 0
    for line in found:
        size += len(text[line.start : _next(line, text)].encode(errors="replace"))
        if line.number >= min(first, MAX_LINES) or size > MAX_BYTES - len(link.encode()) - 2:
            break
        keep = _next(line, text)
    before = beside(OLDER)
    old = before if before is not None else f"# Older memories{newline}{newline}"
    gap = "" if old.endswith("\n") else newline
    moved = f"{old}{gap}{text[keep:]}"
    return Fix(f"move them into {OLDER}", ((keep, len(text), link),), ((OLDER, moved),))


def _title(text: str, name: str) -> str:
    heading = next((line.lstrip("# ").strip() for line in text.split("\n") if line.startswith("#")), "")
    plain = heading or name.removesuffix(".md").replace("-", " ").replace("_", " ")
    return plain.replace("[", "(").replace("]", ")")[:100]


def _next(line: Line, text: str) -> int:
    after = text.find("\n", line.end) + 1
    return after or len(text)


def _without(line: Line, text: str) -> tuple[int, int, str]:
    return line.start, _next(line, text), ""
