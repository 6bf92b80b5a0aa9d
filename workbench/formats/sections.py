"""Markdown files whose sections are the memories: finding them, and writing one without touching the others."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from workbench.formats.nodes import slug
from workbench.formats.textedit import Edit, Span, applied, lines, newline_of, raw, span

_COMMENTS = re.compile(r"(?:\s*<!--.*?-->)*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Part:
    """One section: its title (empty above the first one), a name no other has, where it stands, and its body.

    What a template says in comments below the heading is not part of the body; an empty body stands
    where one would be put.
    """

    title: str
    name: str
    line: int
    start: int
    end: int
    body: Span


def topic_of(text: str) -> str:
    """Return the title of the whole file, from its first `# ` heading."""
    return next((line.text[2:].strip() for line in lines(text) if not line.code and line.text.startswith("# ")), "")


def parts(text: str, start: int = 0) -> Iterator[Part]:
    """Yield the sections below `##` headings from `start` on, and the texts above the first one."""
    found = [line for line in lines(text) if line.start >= start]
    heads = [line for line in found if not line.code and re.match(r"##?(?!#)(?:\s|$)", line.text)]
    stops = [*(line.start for line in heads), len(text)]
    taken: set[str] = set()
    if found and found[0].start < stops[0]:
        body = _body(text, found[0].start, stops[0], found[0].number)
        if body.text:
            taken.add("top")
            yield Part("", "top", body.line, found[0].start, stops[0], body)
    for line, stop in zip(heads, stops[1:], strict=True):
        title = line.text.lstrip("#").strip() if line.text.startswith("##") else ""
        body = _body(text, line.end, stop, line.number)
        if not title and not body.text:
            continue
        base = name = slug(title) or "top"
        number = 2
        while name in taken:
            name, number = f"{base}-{number}", number + 1
        taken.add(name)
        yield Part(title, name, line.number, line.start, stop, body)


def _body(text: str, start: int, stop: int, line: int) -> Span:
    comments = _COMMENTS.match(text, start, stop)
    first = comments.end() if comments else start
    return span(text, first, stop, line + text.count("\n", start, first))


def rewritten(
    text: str, known: Mapping[str, Part], new: Mapping[str, str | None], added: Mapping[str, str], *, keep: bool
) -> str:
    """Return `text` with other bodies for some sections by name (None: without it), and new sections by title.

    With `keep` the heading of a section stays when its body goes. A section that has the title of a
    new one, and is empty, is filled; the other new ones follow at the end.
    """
    newline = newline_of(text)
    edits: list[Edit] = []
    for name, value in new.items():
        part = known[name]
        if value:
            edits.append((part.body.start, part.body.end, raw(value, newline)))
        elif keep or not part.title:
            after = text.find("\n", part.body.end, part.end) + 1
            edits.append((part.body.start, after or part.end, ""))
        else:
            edits.append((part.start, part.end, ""))
    end: list[str] = []
    free = {part.title: part for part in known.values() if not part.body.text}
    for title, value in added.items():
        empty = free.pop(title, None)
        if empty is None:
            end.append(f"## {' '.join(title.split())}{newline}{newline}{raw(value, newline)}")
        else:
            edits.append((empty.body.start, empty.body.start, newline + raw(value, newline)))
    out = applied(text, edits)
    if not end:
        return out
    final = newline if out.endswith("\n") or not out else ""
    return (out.rstrip() + newline * 2 if out.strip() else "") + (newline * 2).join(end) + final
