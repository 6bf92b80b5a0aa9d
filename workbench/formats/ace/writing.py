"""Writing an ACE playbook: the lines it was read from wherever they still say what the playbook says."""

from collections.abc import Iterator, Sequence

from workbench.core.playbook.book import Book, Bullet, Dialect, Playbook, Section
from workbench.formats.ace import lines as ace_lines

_OTHERS = Section("others", "others", "OTHERS")


def write_playbook(playbook: Playbook, *, dialect: Dialect | None = None) -> str:
    """Return the text of a playbook.

    Without `dialect` an unchanged playbook gives the bytes it was read from, a changed bullet one
    changed line (in the form its line had, or else the book's dialect), and a playbook that was
    never a file gets every section and `## OTHERS`. With `dialect` it is a strict export for the
    reference tools: every bullet in that form on one line, nothing above the first heading, and
    `## OTHERS` present. Deprecated bullets are left out. Votes cannot be written in the bare form.
    """
    book, lines = playbook.book, list[str]()
    for section, bullets in as_written(playbook, strict=dialect is not None):
        lines += section_lines(section, lines[-1] if lines else None, strict=dialect is not None)
        for bullet in bullets:
            lines += bullet_lines(bullet, book, dialect)
    lines += book.tail
    return book.newline.join(lines) + (book.newline if book.final_newline and lines else "")


def as_written(playbook: Playbook, *, strict: bool = False) -> Iterator[tuple[Section, Sequence[Bullet]]]:
    """Yield the sections with their bullets as they are written; `strict`: as for the reference tools."""
    sections, groups = sorted(playbook.sections, key=lambda section: section.order), _grouped(playbook.bullets)
    if strict or _is_new(playbook):
        sections, groups = _complete([section for section in sections if not _unwritten(section)], groups)
    elif groups.keys() - {section.id for section in sections}:
        sections, groups = _complete(sections, groups)
    for section in sections:
        yield section, groups.pop(section.id, ())


def section_lines(section: Section, above: str | None, *, strict: bool = False) -> list[str]:
    """Return what is written of a section before its bullets, under the line `above` (`None`: at the top)."""
    if _unwritten(section):
        return []
    lines = [] if strict and above is None else list(section.lead)
    raw = section.raw
    if raw is not None and ace_lines.heading(raw) == section.title:
        return [*lines, raw.removeprefix(ace_lines.BOM) if strict else raw]
    above = lines[-1] if lines else above
    if raw is None and above is not None and above.strip():
        lines.append("")
    return [*lines, _mark(raw) + f"## {ace_lines.flat(section.title)}"]


def bullet_lines(bullet: Bullet, book: Book, dialect: Dialect | None = None) -> list[str]:
    """Return what is written of a bullet, the lines above it included (see `write_playbook`)."""
    if bullet.state == "deprecated":
        return list(bullet.lead)
    if dialect is not None:
        return [*bullet.lead, ace_lines.render(bullet, dialect)]
    raw = bullet.raw
    said = None if raw is None else ace_lines.bullet(raw)
    form: Dialect = "counts" if said and said.form == "counts" else book.dialect
    if raw is not None and said is not None and _still_says(bullet, said, form):
        return [*bullet.lead, *raw.split("\n")]
    ending = "\r" if raw is not None and raw.endswith("\r") else ""
    return [*bullet.lead, _mark(raw) + ace_lines.render(bullet, form) + ending]


def _grouped(bullets: tuple[Bullet, ...]) -> dict[str, list[Bullet]]:
    groups: dict[str, list[Bullet]] = {}
    for bullet in sorted(bullets, key=lambda bullet: bullet.order):
        groups.setdefault(bullet.section, []).append(bullet)
    return groups


def _is_new(playbook: Playbook) -> bool:
    records: tuple[Section | Bullet, ...] = (*playbook.sections, *playbook.bullets)
    return not playbook.book.tail and all(record.raw is None for record in records)


def _complete(
    sections: list[Section], groups: dict[str, list[Bullet]]
) -> tuple[list[Section], dict[str, list[Bullet]]]:
    """Add `## OTHERS` where it is missing, and put every bullet whose section is not there into it."""
    others = next((section for section in reversed(sections) if section.key == _OTHERS.key and section.title), None)
    if others is None:
        others = _OTHERS
        sections = [*sections, others]
    known = {section.id for section in sections}
    out: dict[str, list[Bullet]] = {}
    for name, bullets in groups.items():
        out.setdefault(name if name in known else others.id, []).extend(bullets)
    return sections, out


def _unwritten(section: Section) -> bool:
    """Whether this is the section of the bullets above the first heading."""
    return section.raw is None and not section.title.strip()


def _still_says(bullet: Bullet, said: ace_lines.BulletLine, form: Dialect) -> bool:
    counts = (bullet.helpful_count, bullet.harmful_count)
    same_counts = form == "bare" or counts == (said.helpful, said.harmful)
    return said.content == bullet.content and same_counts and said.id in (bullet.id, *bullet.aliases)


def _mark(raw: str | None) -> str:
    """The byte order mark, where the line being replaced has it."""
    return ace_lines.BOM if raw is not None and raw.startswith(ace_lines.BOM) else ""
