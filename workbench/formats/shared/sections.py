"""Markdown files whose sections are the memories: finding them, and writing one without touching the others."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from workbench.core.files.lint import BLANKS, Edit, Span, applied, lines, newline_of, open_fence, raw, span
from workbench.core.free_names import FreeNames
from workbench.formats.memory_streams.nodes import slug

_HIDING = re.compile(r"\A<!--|<!--(?=\s*META)", re.IGNORECASE)
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
    names = FreeNames()
    if found and found[0].start < stops[0]:
        body = _body(text, found[0].start, stops[0], found[0].number)
        if body.text:
            yield Part("", names.give("top"), body.line, found[0].start, stops[0], body)
    for line, stop in zip(heads, stops[1:], strict=True):
        title = line.text.lstrip("#").strip() if line.text.startswith("##") else ""
        body = _body(text, line.end, stop, line.number)
        if not title and not body.text:
            continue
        yield Part(title, names.give(slug(title) or "top"), line.number, line.start, stop, body)


def _body(text: str, start: int, stop: int, line: int) -> Span:
    comments = _COMMENTS.match(text, start, stop)
    first = comments.end() if comments else start
    return span(text, first, stop, line + text.count("\n", start, first))


def rewritten(
    text: str,
    known: Mapping[str, Part],
    new: Mapping[str, str | None],
    added: Iterable[tuple[str, str]],
    keep: Collection[str] = (),
) -> str:
    """Return `text` with other bodies for some sections by name (None: without it), and new sections at the end.

    Bodies are as they stand in the file (`sections.body_of`). A section whose body goes keeps its heading when its
    title is one of `keep`; one without a body is filled.
    """
    newline = newline_of(text)
    edits: list[Edit] = []
    for name, value in new.items():
        part = known[name]
        if value and part.body.text:
            edits.append((part.body.start, part.body.end, value))
        elif value:
            edits.append((part.body.start, part.body.start, newline + value))
        elif part.title in keep or not part.title:
            after = text.find("\n", part.body.end, part.end) + 1
            edits.append((part.body.start, after or part.end, ""))
        else:
            edits.append((part.start, part.end, ""))
    end = [f"## {title}{newline}{newline}{value}" for title, value in added]
    out = applied(text, edits)
    if not end:
        return out
    final = newline if out.endswith("\n") or not out else ""
    return (out.rstrip() + newline * 2 if out.strip() else "") + (newline * 2).join(end) + final


def body_of(value: str, newline: str) -> str:
    """Write a text as the body of a section: no line of it is a heading, no fence stays open, no comment hides it."""
    shown = _HIDING.sub(r"<\\!--", value.strip(BLANKS))
    fence = open_fence(shown)
    return raw(f"{shown}\n{fence}" if fence else shown, newline)
