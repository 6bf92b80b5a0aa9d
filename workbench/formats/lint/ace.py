"""ACE playbook files: what the reference tools would misread, lose, or stumble over."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from workbench.core.duplicates.identity import Described, says_all_the_same, text_key
from workbench.core.files.lint import COMPARED, Fix, LintFinding
from workbench.core.files.textedit import Line, lines, newline_of
from workbench.core.playbook.book import Bullet, bullet_id, initials, section_key, slug_for
from workbench.formats.ace import lines as ace_lines
from workbench.formats.shared.report import shown

_COUNTED = re.compile(r"((?:(?:helpful|harmful|neutral)\s*=\s*[^\s=]*[\s,;|]*)+)::\s*(.*)", re.IGNORECASE)
_NUMBER = re.compile(r"(helpful|harmful)\s*=\s*([0-9]{1,12})(?![^\s,;|])")


@dataclass(frozen=True, slots=True)
class _Place:
    """A bullet's first line with what it says and the key of the section it stands in ("" above the first heading).

    `last` is its last line, and `content` its whole text, when it goes over several.
    """

    line: Line
    said: ace_lines.BulletLine
    section: str
    last: Line
    content: str


def lint(text: str, file: str) -> list[LintFinding]:
    """Return what is wrong with a playbook, in the order of its lines."""
    found = list(lines(text))
    places = list(_places(found))
    return sorted(
        [
            *_headings(found, file),
            *_loose(places, file),
            *_bad_counts(places, file),
            *_duplicate_ids(places, file),
            *_duplicate_texts(places, text, file),
            *_wrong_slugs(places, file),
            *_lost_text(found, places, text, file),
            *_no_others(found, text, file),
        ],
        key=lambda finding: finding.line,
    )


def _places(found: list[Line]) -> Iterator[_Place]:
    section = ""
    for at, line in enumerate(found):
        title = ace_lines.heading(line.text)
        if title is not None:
            section = section_key(title)
            continue
        said = ace_lines.bullet(line.text)
        if said is not None:
            rest = _rest(found, at + 1)
            text = "\n".join((said.content, *(more.text.rstrip() for more in rest)))
            yield _Place(line, said, section, rest[-1] if rest else line, text)


def _rest(found: list[Line], first: int) -> list[Line]:
    """Return a bullet's lines from `first` on: up to the next one or a heading, without blank lines at the end."""
    stop = first
    while stop < len(found) and not _begins(found[stop].text):
        stop += 1
    while stop > first and not found[stop - 1].text.strip():
        stop -= 1
    return found[first:stop]


def _begins(line: str) -> bool:
    return bool(ace_lines.bullet(line)) or ace_lines.heading(line) is not None


def _numbers(places: list[_Place]) -> Iterator[int]:
    """Yield numbers that no id of the file has."""
    taken = [int(tail) for place in places if (tail := place.said.id.rpartition("-")[2]).isdecimal() and len(tail) < 12]
    return count(max(taken, default=0) + 1)


def _headings(found: list[Line], file: str) -> Iterator[LintFinding]:
    for line in found:
        plain = line.text.removeprefix(ace_lines.BOM)
        if plain.lstrip().startswith("###"):
            start = line.start + len(line.text) - len(plain) + len(plain) - len(plain.lstrip())
            depth = len(plain.lstrip()) - len(plain.lstrip().lstrip("#"))
            fix = Fix("make it a ## heading", ((start, start + depth, "##"),))
            message = f"the heading {shown(plain.strip())} is deeper than ##: some readers take it for text"
            yield LintFinding(file, line.number, "deep-heading", message, fix)


def _loose(places: list[_Place], file: str) -> Iterator[LintFinding]:
    """Find bullets that only a tolerant reader sees: a dash before them, commas, neutral or negative counts."""
    for place in places:
        said = place.said
        strict = f"[{said.id}] helpful={said.helpful} harmful={said.harmful} :: {said.content}".rstrip()
        plain = place.line.text.removeprefix(ace_lines.BOM).strip()
        loose = plain != strict if said.form == "counts" else plain[:1] != "["
        if loose and " ".join(plain.split()) != " ".join(strict.split()):
            new = strict if said.form == "counts" else f"[{said.id}] {said.content}".rstrip()
            fix = Fix("write it in the strict form", (_whole(place.line, new),))
            message = f"the reference reader does not take {shown(said.id)} in this form"
            yield LintFinding(file, place.line.number, "loose-bullet", message, fix)


def _bad_counts(places: list[_Place], file: str) -> Iterator[LintFinding]:
    """Find bullets whose counts are no numbers: they are read as text without counts."""
    for place in places:
        match = _COUNTED.match(place.said.content) if place.said.form == "bare" else None
        if match is None:
            continue
        found = dict(_NUMBER.findall(match[1].lower()))
        helpful, harmful = (found.get(name, "0") for name in ("helpful", "harmful"))
        new = f"[{place.said.id}] helpful={helpful} harmful={harmful} :: {match[2]}".rstrip()
        fix = Fix("write 0 for what is no number", (_whole(place.line, new),))
        message = f"the counts of {shown(place.said.id)} cannot be read: they are taken for text"
        yield LintFinding(file, place.line.number, "bad-counts", message, fix)


def _duplicate_ids(places: list[_Place], file: str) -> Iterator[LintFinding]:
    first, free = dict[str, int](), _numbers(places)
    for place in places:
        name = place.said.id
        if name not in first:
            first[name] = place.line.number
            continue
        new = bullet_id(place.section or "others", next(free))
        at = place.line.start + place.line.text.index(f"[{name}]") + 1
        fix = Fix(f"renumber it {new}", ((at, at + len(name), new),))
        message = f"the id {shown(name)} is used on line {first[name]} already"
        yield LintFinding(file, place.line.number, "duplicate-id", message, fix)


def _duplicate_texts(places: list[_Place], text: str, file: str) -> Iterator[LintFinding]:
    first: dict[str, list[tuple[_Place, Described[Bullet]]]] = {}
    for place in places:
        new, before = Described(_bullet(place)), first.setdefault(text_key(place.content), [])
        about = [other for other, described in before[:COMPARED] if new.may_be_one(described)]
        before.append((place, new))
        if not about:
            continue
        same = next((other for other in about if _is_equal(other, place)), about[0])
        kept, gone = same.said, place.said
        edits = [(place.line.start, _without(place.last, text)[1], "")]
        if kept.form == "counts":
            merged = Bullet(
                kept.id, "", kept.content,
                helpful_imported=kept.helpful + gone.helpful, harmful_imported=kept.harmful + gone.harmful,
            )  # fmt: skip
            edits.insert(0, _whole(same.line, ace_lines.render(merged, "counts")))
        how = "the same" if same.content == place.content else "the same but for case and blanks"
        fix = Fix(f"keep {kept.id} and add the counts up", tuple(edits)) if _is_equal(same, place) else None
        message = f"{shown(gone.id)} says {how} as {shown(kept.id)} on line {same.line.number}"
        yield LintFinding(file, place.line.number, "duplicate-text", message, fix)


def _bullet(place: _Place) -> Bullet:
    """Return the bullet that stands in a place."""
    return Bullet(place.said.id, place.section, place.content)


def _is_equal(one: _Place, other: _Place) -> bool:
    """Tell whether two bullets are equal in everything that their lines say but ids and counts.

    A strict line, which one of them would become, has no place for neutral or negative counts.
    """
    strict = one.said.form == other.said.form and not any(p.said.neutral or p.said.negative for p in (one, other))
    return strict and says_all_the_same(_bullet(one), _bullet(other))


def _wrong_slugs(places: list[_Place], file: str) -> Iterator[LintFinding]:
    taken = {place.said.id for place in places}
    for place in places:
        slug, _, number = place.said.id.rpartition("-")
        wanted = slug_for(place.section or "others")
        if not slug or not number.isdecimal() or slug in (wanted, initials(place.section or "others")):
            continue
        new = f"{wanted}-{number}"
        at = place.line.start + place.line.text.index(f"[{place.said.id}]") + 1
        fix = None if new in taken else Fix(f"rename it {new}", ((at, at + len(place.said.id), new),))
        message = f"{shown(place.said.id)} stands in a section whose bullets begin with {wanted}-"
        yield LintFinding(file, place.line.number, "wrong-slug", message, fix)


def _lost_text(found: list[Line], places: list[_Place], text: str, file: str) -> Iterator[LintFinding]:
    """Find text that belongs to no bullet: above the first heading, or between a heading and its first bullet."""
    bullets, free = {place.line.number for place in places}, _numbers(places)
    counted = next((place.said.form for place in places), "counts") == "counts"
    section, inside = "", False
    for line in found:
        title = ace_lines.heading(line.text)
        plain = line.text.removeprefix(ace_lines.BOM).strip()
        if title is not None:
            section, inside = title, False
        elif line.number in bullets:
            inside = True
        elif plain and not inside:
            name = bullet_id(section_key(section or "others"), next(free))
            made = f"[{name}] helpful=0 harmful=0 :: {plain}" if counted else f"[{name}] {plain}"
            if section:
                fix = Fix(f"make it the bullet {name}", (_whole(line, made),))
                yield LintFinding(file, line.number, "orphan-line", f"{shown(plain)} belongs to no bullet", fix)
                continue
            fix = Fix(f"move it into ## OTHERS as {name}", (_without(line, text), _into_others(found, text, made)))
            message = f"{shown(plain)} stands above the first heading: the reference updater fails on it"
            yield LintFinding(file, line.number, "text-above", message, fix)


def _no_others(found: list[Line], text: str, file: str) -> Iterator[LintFinding]:
    if not any(_is_others(line) for line in found):
        newline = newline_of(text)
        gap = newline if text.endswith("\n") or not text else newline * 2
        fix = Fix("add ## OTHERS at the end", ((len(text), len(text), f"{gap}## OTHERS{newline}"),))
        last = found[-1].number if found else 1
        yield LintFinding(
            file, last, "no-others", "there is no section ## OTHERS, which the reference tools add to", fix
        )


def _into_others(found: list[Line], text: str, bullet: str) -> tuple[int, int, str]:
    """Return the edit that puts a bullet at the end of the section OTHERS, or below a new heading at the end."""
    newline = newline_of(text)
    at = next((n for n, line in enumerate(found) if _is_others(line)), None)
    if at is None:
        gap = newline if text.endswith("\n") else newline * 2
        return len(text), len(text), f"{gap}## OTHERS{newline}{bullet}{newline}"
    last = found[at]
    for line in found[at + 1 :]:
        if ace_lines.heading(line.text) is not None:
            break
        last = line if line.text.strip() else last
    return last.end, last.end, newline + bullet


def _is_others(line: Line) -> bool:
    title = ace_lines.heading(line.text)
    return title is not None and section_key(title) == "others"


def _whole(line: Line, new: str) -> tuple[int, int, str]:
    return line.start, line.end, new


def _without(line: Line, text: str) -> tuple[int, int, str]:
    after = text.find("\n", line.end) + 1
    return line.start, after or len(text), ""
