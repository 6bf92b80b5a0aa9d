"""Looking a file over by what it is."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import count
from pathlib import Path, PurePath
from typing import NamedTuple, TypeVar

from workbench.core.duplicates.dedup import Described, says_all_the_same, text_key
from workbench.core.files.format import Issue, Parsed, ReadContext, Reason, WriteText
from workbench.core.files.formats import format_named
from workbench.core.files.lint import COMPARED, Fix, Line, LintFinding, Rule, lines, newline_of
from workbench.core.files.memory_md import MAX_BYTES, MAX_LINES, cut_at
from workbench.core.playbook.book import Bullet, bullet_id, initials, section_key, slug_for
from workbench.core.record import WorkbenchError
from workbench.core.stream.memory import Memory
from workbench.core.text import begun_alike, counted
from workbench.formats import ace, instructions, letta, opening
from workbench.formats.claude_memory import INDEX_LINE
from workbench.formats.claude_memory import NAME as CLAUDE_MEMORY
from workbench.formats.instructions import missing
from workbench.formats.shared.report import shown

# ACE playbook files: what the reference tools would misread, lose, or stumble over.


_COUNTED = re.compile(
    r"((?:(?:helpful|harmful|neutral)\s*=\s*[^\s=]*[\s,;|]*)+)::\s*(.*)", re.IGNORECASE
)
_NUMBER = re.compile(r"(helpful|harmful)\s*=\s*([0-9]{1,12})(?![^\s,;|])")


_Finding = tuple[int, Rule, str, Fix | None]
"""The line of what is wrong, the rule, a sentence, and how it could be put right."""


class _Place(NamedTuple):
    """A bullet's first line with what it says and the key of the section it stands in ("" above the
    first heading).

    `last` is its last line, and `content` its whole text, when it goes over several.
    """

    line: Line
    said: ace.BulletLine
    section: str
    last: Line
    content: str


def lint(text: str, file: str) -> list[LintFinding]:
    """Return what is wrong with a playbook, in the order of its lines."""
    found = list(lines(text))
    places = list(_places(found))
    findings = (
        *_headings(found),
        *_loose(places),
        *_bad_counts(places),
        *_duplicate_ids(places),
        *_duplicate_texts(places),
        *_wrong_slugs(places),
        *_lost_text(found, places, text),
        *_no_others(found, text),
    )
    return [LintFinding(file, *one) for one in sorted(findings, key=lambda one: one[0])]


def _places(found: list[Line]) -> Iterator[_Place]:
    section = ""
    for at, line in enumerate(found):
        title = ace.heading(line.text)
        if title is not None:
            section = section_key(title)
            continue
        said = ace.bullet_line(line.text)
        if said is not None:
            rest = _rest(found, at + 1)
            text = "\n".join((said.content, *(more.text.rstrip() for more in rest)))
            yield _Place(line, said, section, rest[-1] if rest else line, text)


def _rest(found: list[Line], first: int) -> list[Line]:
    """Return a bullet's lines from `first` on: up to the next one or a heading, without blank lines
    at the end.
    """
    stop = first
    while stop < len(found) and not _begins(found[stop].text):
        stop += 1
    while stop > first and not found[stop - 1].text.strip():
        stop -= 1
    return found[first:stop]


def _begins(line: str) -> bool:
    return bool(ace.bullet_line(line)) or ace.heading(line) is not None


def _numbers(places: list[_Place]) -> Iterator[int]:
    """Yield numbers that no id of the file has."""
    taken = [
        int(tail)
        for place in places
        if (tail := place.said.id.rpartition("-")[2]).isdecimal() and len(tail) < 12
    ]
    return count(max(taken, default=0) + 1)


def _headings(found: list[Line]) -> Iterator[_Finding]:
    for line in found:
        plain = line.text.lstrip()
        if plain.startswith("###"):
            start = line.end - len(plain)
            depth = len(plain) - len(plain.lstrip("#"))
            fix = Fix("make it a ## heading", ((start, start + depth, "##"),))
            message = f"the heading {shown(plain.strip())} is deeper than ##: some parsers read it as text"
            yield line.number, "deep-heading", message, fix


def _loose(places: list[_Place]) -> Iterator[_Finding]:
    """Find bullets that only a tolerant reader sees: a dash before them, commas, neutral or
    negative counts.
    """
    for place in places:
        said = place.said
        strict = (
            f"[{said.id}] helpful={said.helpful} harmful={said.harmful} :: {said.content}".rstrip()
        )
        plain = place.line.text.strip()
        loose = plain != strict if said.form == "counts" else plain[:1] != "["
        if loose and " ".join(plain.split()) != " ".join(strict.split()):
            new = strict if said.form == "counts" else f"[{said.id}] {said.content}".rstrip()
            fix = Fix("write it in the strict form", (_whole(place.line, new),))
            message = f"the reference parser does not accept {shown(said.id)} in this form"
            yield place.line.number, "loose-bullet", message, fix


def _bad_counts(places: list[_Place]) -> Iterator[_Finding]:
    """Find bullets whose counts are no numbers: they are read as text without counts."""
    for place in places:
        match = _COUNTED.match(place.said.content) if place.said.form == "bare" else None
        if match is None:
            continue
        found = dict(_NUMBER.findall(match[1].lower()))
        helpful, harmful = (found.get(name, "0") for name in ("helpful", "harmful"))
        new = f"[{place.said.id}] helpful={helpful} harmful={harmful} :: {match[2]}".rstrip()
        fix = Fix("write 0 where there is no number", (_whole(place.line, new),))
        message = f"the counts of {shown(place.said.id)} cannot be read and count as text"
        yield place.line.number, "bad-counts", message, fix


def _duplicate_ids(places: list[_Place]) -> Iterator[_Finding]:
    first, free = dict[str, int](), _numbers(places)
    for place in places:
        name = place.said.id
        if name not in first:
            first[name] = place.line.number
            continue
        new = bullet_id(place.section or "others", next(free))
        fix = Fix(f"renumber it {new}", (_named(place, new),))
        message = f"the id {shown(name)} is already used on line {first[name]}"
        yield place.line.number, "duplicate-id", message, fix


def _duplicate_texts(places: list[_Place]) -> Iterator[_Finding]:
    for place, same in _equal(places, _bullet, _are_strict):
        kept, gone = same.said, place.said
        edits = [(place.line.start, place.last.stop, "")]
        if kept.form == "counts":
            merged = Bullet(
                kept.id, "", kept.content,
                helpful_imported=kept.helpful + gone.helpful, harmful_imported=kept.harmful + gone.harmful,
            )  # fmt: skip
            edits.insert(0, _whole(same.line, ace.render(merged, "counts")))
        how = "the same" if same.content == place.content else "the same but for case and blanks"
        fix = (
            Fix(f"keep {kept.id} and add up the counts", tuple(edits))
            if _are_strict(same, place) and says_all_the_same(_bullet(same), _bullet(place))
            else None
        )
        message = f"{shown(gone.id)} says {how} as {shown(kept.id)} on line {same.line.number}"
        yield place.line.number, "duplicate-text", message, fix


def _bullet(place: _Place) -> Bullet:
    """Return the bullet that stands in a place."""
    return Bullet(place.said.id, place.section, place.content)


def _are_strict(one: _Place, other: _Place) -> bool:
    """Tell whether the lines of two bullets are of one form and say no more than a strict line can,
    which has no place for neutral or negative counts: one of them may become both.
    """
    return one.said.form == other.said.form and not any(
        p.said.neutral or p.said.negative for p in (one, other)
    )


def _wrong_slugs(places: list[_Place]) -> Iterator[_Finding]:
    taken = {place.said.id for place in places}
    for place in places:
        slug, _, number = place.said.id.rpartition("-")
        wanted = slug_for(place.section or "others")
        if (
            not slug
            or not number.isdecimal()
            or slug in (wanted, initials(place.section or "others"))
        ):
            continue
        new = f"{wanted}-{number}"
        fix = None if new in taken else Fix(f"rename it {new}", (_named(place, new),))
        message = f"{shown(place.said.id)} is in a section whose bullets begin with {wanted}-"
        yield place.line.number, "wrong-slug", message, fix


def _lost_text(found: list[Line], places: list[_Place], text: str) -> Iterator[_Finding]:
    """Find text that does not belong to a bullet: above the first heading, or between a heading and its
    first bullet.
    """
    bullets, free = {place.line.number for place in places}, _numbers(places)
    counted = next((place.said.form for place in places), "counts") == "counts"
    section, inside = "", False
    for line in found:
        title = ace.heading(line.text)
        plain = line.text.strip()
        if title is not None:
            section, inside = title, False
        elif line.number in bullets:
            inside = True
        elif plain and not inside:
            name = bullet_id(section_key(section or "others"), next(free))
            made = f"[{name}] helpful=0 harmful=0 :: {plain}" if counted else f"[{name}] {plain}"
            if section:
                fix = Fix(f"make it the bullet {name}", (_whole(line, made),))
                yield line.number, "orphan-line", f"{shown(plain)} does not belong to a bullet", fix
                continue
            fix = Fix(
                f"move it into ## OTHERS as {name}",
                ((line.start, line.stop, ""), _into_others(found, text, made)),
            )
            message = (
                f"{shown(plain)} is above the first heading, where the reference updater fails"
            )
            yield line.number, "text-above", message, fix


def _no_others(found: list[Line], text: str) -> Iterator[_Finding]:
    if not any(_is_others(line) for line in found):
        newline = newline_of(text)
        gap = newline if text.endswith("\n") or not text else newline * 2
        fix = Fix("add ## OTHERS at the end", ((len(text), len(text), f"{gap}## OTHERS{newline}"),))
        last = found[-1].number if found else 1
        yield (
            last,
            "no-others",
            "the section ## OTHERS, which the reference tools use, is missing",
            fix,
        )


def _into_others(found: list[Line], text: str, bullet: str) -> tuple[int, int, str]:
    """Return the edit that puts a bullet at the end of the section OTHERS, or below a new heading
    at the end.
    """
    newline = newline_of(text)
    at = next((n for n, line in enumerate(found) if _is_others(line)), None)
    if at is None:
        gap = newline if text.endswith("\n") else newline * 2
        return len(text), len(text), f"{gap}## OTHERS{newline}{bullet}{newline}"
    last = found[at]
    for line in found[at + 1 :]:
        if ace.heading(line.text) is not None:
            break
        last = line if line.text.strip() else last
    return last.end, last.end, newline + bullet


def _is_others(line: Line) -> bool:
    title = ace.heading(line.text)
    return title is not None and section_key(title) == "others"


def _named(place: _Place, new: str) -> tuple[int, int, str]:
    at = place.line.start + place.line.text.index(f"[{place.said.id}]") + 1
    return at, at + len(place.said.id), new


def _whole(line: Line, new: str) -> tuple[int, int, str]:
    return line.start, line.end, new


# Files of records in any format that is read: what the reader skipped, equal texts, references to
# nothing.


R = TypeVar("R", Memory, Bullet)
T = TypeVar("T")

MOST = 20
"""Fixes that are worked out at a time; once they are made, the next ones are."""


class Writer(NamedTuple):
    """The text of a file whose format is written too, and how: what makes a fix of other records."""

    text: str
    write: WriteText

    def fix(self, label: str, parsed: Parsed) -> tuple[int, Fix | None]:
        """Return the line that changes first when the file gets these records, and the fix that
        does it, if any.
        """
        try:
            new = self.write(parsed, self.text)
        except WorkbenchError:
            return 1, None  # the format cannot say it
        old, start = self.text, begun_alike(self.text, new)
        end = begun_alike(old[start:][::-1], new[start:][::-1])
        line = old.count("\n", 0, start) + 1
        return line, Fix(
            label, ((start, len(old) - end, new[start : len(new) - end]),)
        ) if old != new else None


class _Wrong(NamedTuple):
    """Something that is wrong with records, and the records that would put it right, where it is
    sure which.
    """

    rule: Rule
    message: str
    label: str = ""
    right: Parsed | None = None


def lint_records(parsed: Parsed, file: str, writer: Writer | None = None) -> list[LintFinding]:
    """Return what is wrong with the records of a file, with fixes where a `writer` can make them."""
    out = [
        LintFinding(file, issue.line, "unreadable", issue.reason, kind=issue.kind)
        for issue in _damage(parsed)
    ]
    tried = 0
    for wrong in (*_duplicates(parsed, is_stream=writer is None), *_dangling(parsed)):
        line, fix = 1, None
        if writer is not None and wrong.right is not None and tried < MOST:
            tried += 1
            line, fix = writer.fix(wrong.label, wrong.right)
        out.append(LintFinding(file, line, wrong.rule, wrong.message, fix))
    return out


def _damage(parsed: Parsed) -> Iterator[Issue]:
    """Yield what should have been a record; what is none and stays in the file is nothing wrong."""
    yield from (issue for issue in parsed.issues if issue.records and issue.fate is None)


def _duplicates(parsed: Parsed, *, is_stream: bool) -> Iterator[_Wrong]:
    """Find records that say the same; in a stream that a program keeps, what happens again is told
    again.
    """
    for gone, kept in _equal(parsed.memories, _itself):
        if (
            is_stream
            and gone.created_at != kept.created_at
            and (gone.memory_type == "episodic" or gone.is_synthetic)
        ):
            continue
        fewer = replace(parsed, memories=tuple(_merged(parsed.memories, kept.id, gone.id)))
        yield _same(gone, kept, fewer)
    for at, book in enumerate(parsed.playbooks):
        for found, first in _equal(book.bullets, _itself):
            merged = replace(book, bullets=tuple(_merged(book.bullets, first.id, found.id)))
            playbooks = (*parsed.playbooks[:at], merged, *parsed.playbooks[at + 1 :])
            yield _same(found, first, replace(parsed, playbooks=playbooks))


def _same(gone: R, kept: R, fewer: Parsed) -> _Wrong:
    """Say that two records have one text; only of two that are equal in everything else, too, one
    may go.
    """
    message = f"{shown(gone.id)} says the same as {shown(kept.id)}"
    if says_all_the_same(gone, kept):
        return _Wrong("duplicate-text", message, f"keep {kept.id} and add up the counts", fewer)
    return _Wrong(
        "duplicate-text",
        f"{message}, but they differ otherwise: decide which one to keep",
    )


def _equal(
    items: Iterable[T], record: Callable[[T], R], may_join: Callable[[T, T], bool] = lambda *_: True
) -> Iterator[tuple[T, T]]:
    """Yield each duplicate with an earlier item that has the same text and is about the same thing.

    Where there are several, the earlier item is one that it may be merged into, if any.
    """
    first: dict[str, list[tuple[T, Described[R]]]] = {}
    for item in items:
        new = Described(record(item))
        before = first.setdefault(text_key(new.record.content), [])
        about = [one for one in before[:COMPARED] if new.may_be_one(one[1])]
        before.append((item, new))
        if about:
            same = (one for one in about if may_join(one[0], item) and one[1].said == new.said)
            yield item, next(same, about[0])[0]


def _itself(record: R) -> R:
    return record


def _merged(records: Sequence[R], kept: str, gone: str) -> Iterator[R]:
    """Yield the records without one, its counts added to the one that is kept."""
    lost = next(record for record in records if record.id == gone)
    for record in records:
        if record.id == kept:
            yield replace(
                record,
                helpful_imported=record.helpful_imported + lost.helpful_count,
                harmful_imported=record.harmful_imported + lost.harmful_count,
            )
        elif record.id != gone:
            yield record


def _dangling(parsed: Parsed) -> Iterator[_Wrong]:
    """Find citations and cross-references to records that the file does not hold."""
    known = {m.id for m in parsed.memories} | {
        alias for m in parsed.memories for alias in m.aliases
    }
    for at, memory in enumerate(parsed.memories):
        for id in dict.fromkeys((*memory.citations, *memory.related)):
            if id not in known:
                citations, related = (
                    tuple(i for i in ids if i != id) for ids in (memory.citations, memory.related)
                )
                without = replace(memory, citations=citations, related=related)
                right = replace(
                    parsed, memories=(*parsed.memories[:at], without, *parsed.memories[at + 1 :])
                )
                message = f"{shown(memory.id)} cites {shown(id)}, which is not in the file"
                yield _Wrong("dangling-reference", message, "remove the reference", right)


# MEMORY.md: what falls below the cut, links that lead nowhere, and topic files that no line names.


OLDER = "older-memories.md"
"""The topic file that takes what falls below the cut."""


def lint_memory_index(
    text: str, file: str, beside: Callable[[str], str | None], topics: Iterable[str]
) -> list[LintFinding]:
    """Return what is wrong with an index; `topics` are the names of the Markdown files in its
    folder.
    """
    found = list(lines(text))
    named = {match["target"]: line for line in found if (match := INDEX_LINE.match(line.text))}
    findings = (
        *_links(named, beside),
        *_unindexed(named, topics, text, beside),
        *_over(found, text, beside),
    )
    return [LintFinding(file, *one) for one in sorted(findings, key=lambda one: one[0])]


def _links(named: dict[str, Line], beside: Callable[[str], str | None]) -> Iterator[_Finding]:
    for target, line in named.items():
        if "://" not in target and beside(target) is None:
            fix = Fix("remove the line", ((line.start, line.stop, ""),))
            yield line.number, "broken-link", f"the file {shown(target)} does not exist", fix


def _unindexed(
    named: dict[str, Line],
    topics: Iterable[str],
    text: str,
    beside: Callable[[str], str | None],
) -> Iterator[_Finding]:
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
        message = f"no line mentions the topic file {shown(name)}, so it is never read"
        yield (text.count("\n") + 1, "unindexed", message, fix)


def _room(named: dict[str, Line], text: str) -> int:
    """Return where a new line goes: below the other links, or the headings, and never where the
    file is cut off.
    """
    cut = cut_at(text)
    last = cut[0] - 1 if cut else MAX_LINES
    loaded = [line for line in named.values() if line.number < last]
    if loaded:
        return max(line.stop for line in loaded)
    at = 1 if text.startswith("\ufeff") else 0
    for line in lines(text):
        if line.text.strip() and not line.text.startswith("#"):
            break
        at = line.stop
    return at


def _over(found: list[Line], text: str, beside: Callable[[str], str | None]) -> Iterator[_Finding]:
    cut = cut_at(text)
    if cut is None:
        return
    first, _ = cut
    below = [line for line in found if line.number >= first and line.text.strip()]
    what = counted(len(below), "line is", "lines are")
    message = f"{what} below the first {MAX_LINES} lines and {MAX_BYTES:,} bytes: Claude Code does not load them"
    yield first, "over-cap", message, _moved(found, first, text, beside)


def _moved(found: list[Line], first: int, text: str, beside: Callable[[str], str | None]) -> Fix:
    """Move what is below the cut, and the last lines above it that the new link needs the room of,
    to a topic file.
    """
    newline = newline_of(text)
    link = f"- [Older memories]({OLDER}) — moved here because the index was too long{newline}"
    size, keep = 0, 0
    for line in found:
        size += len(text[line.start : line.stop].encode(errors="replace"))
        if line.number >= min(first, MAX_LINES) or size > MAX_BYTES - len(link.encode()) - 2:
            break
        keep = line.stop
    before = beside(OLDER)
    old = before if before is not None else f"# Older memories{newline}{newline}"
    gap = "" if old.endswith("\n") else newline
    moved = f"{old}{gap}{text[keep:]}"
    return Fix(f"move them into {OLDER}", ((keep, len(text), link),), ((OLDER, moved),))


def _title(text: str, name: str) -> str:
    heading = next(
        (line.lstrip("# ").strip() for line in text.split("\n") if line.startswith("#")), ""
    )
    plain = heading or name.removesuffix(".md").replace("-", " ").replace("_", " ")
    return plain.replace("[", "(").replace("]", ")")[:100]


def lint_file(
    path: Path, now: datetime, format: str | None = None
) -> tuple[str, list[LintFinding]]:
    """Return the format a file has and what is wrong with it. Raises `UnreadableFile`."""
    text = opening.read_text(path)
    kind = format or opening.detected(path, text).format
    return kind, lint_text(path, text, kind, now)


def lint_text(
    path: Path,
    text: str,
    kind: str,
    now: datetime,
    others: Mapping[str, str] | None = None,
) -> list[LintFinding]:
    """Return what is wrong with a text of some format that stands, or could stand, in the file at
    `path`.

    `others` are texts by name that could stand beside it, in place of those that do. Raises
    `UnreadableFile`.
    """
    overlay = others or {}
    if kind == ace.NAME:
        return lint(text, str(path))
    if kind == CLAUDE_MEMORY and PurePath(path).name.upper() == "MEMORY.MD":
        there = opening.beside(path.parent)
        topics = [
            other.name
            for other in path.parent.glob("*.md")
            if other.is_file() and other.name != path.name
        ]
        named = list(dict.fromkeys([*topics, *overlay]))
        return lint_memory_index(
            text, str(path), lambda name: overlay.get(name) or there(name), named
        )
    known, context = format_named(kind), ReadContext(now=now, file=str(path), as_candidates=True)
    if known.read_path is not None:
        return lint_records(opening.read_file(path, format=kind, context=context), str(path))
    parsed = known.read(text, replace(context, path=str(path), beside=opening.beside(path.parent)))
    found = lint_records(parsed, str(path), Writer(text, known.write) if known.writes else None)
    if kind == letta.NAME:
        over = (
            i
            for i in parsed.issues
            if isinstance(i.what, Reason) and i.what.pattern is letta.OVER_LIMIT
        )
        return found + [LintFinding(str(path), one.line, "over-cap", one.reason) for one in over]
    if kind != instructions.NAME:
        return found
    lost = missing(text, lambda name: _exists(path.parent, name))
    said = "the imported file {} does not exist"
    return found + [
        LintFinding(str(path), at, "broken-link", said.format(shown(name))) for at, name in lost
    ]


def _exists(folder: Path, name: str) -> bool:
    try:
        return (folder / Path(name).expanduser()).exists()
    except (OSError, RuntimeError):  # too long a name, or the home folder of nobody
        return False
