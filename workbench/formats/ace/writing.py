"""Writing an ACE playbook: the lines it was read from wherever they still say what the playbook says."""

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
    book, sections = playbook.book, sorted(playbook.sections, key=lambda section: section.order)
    groups = _grouped(playbook.bullets)
    strict = dialect is not None
    if strict or _is_new(playbook):
        sections, groups = _complete([section for section in sections if not _unwritten(section)], groups)
    elif groups.keys() - {section.id for section in sections}:
        sections, groups = _complete(sections, groups)
    lines: list[str] = []
    for section in sections:
        _add_section(section, lines, strict=strict)
        for bullet in groups.pop(section.id, ()):
            _add_bullet(bullet, book, dialect, lines)
    lines += book.tail
    return book.newline.join(lines) + (book.newline if book.final_newline and lines else "")


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


def _add_section(section: Section, lines: list[str], *, strict: bool) -> None:
    if _unwritten(section):
        return
    lead = section.lead
    if strict and not lines:
        lead = ()
    lines += lead
    raw = section.raw
    if raw is not None and ace_lines.heading(raw) == section.title:
        lines.append(raw.removeprefix(ace_lines.BOM) if strict else raw)
        return
    if raw is None and lines and lines[-1].strip():
        lines.append("")
    lines.append(_mark(raw) + f"## {ace_lines.flat(section.title)}")


def _add_bullet(bullet: Bullet, book: Book, dialect: Dialect | None, lines: list[str]) -> None:
    lines += bullet.lead
    if bullet.state == "deprecated":
        return
    if dialect is not None:
        lines.append(ace_lines.render(bullet, dialect))
        return
    raw = bullet.raw
    said = None if raw is None else ace_lines.bullet(raw)
    form: Dialect = "counts" if said and said.form == "counts" else book.dialect
    if raw is not None and said is not None and _still_says(bullet, said, form):
        lines += raw.split("\n")
        return
    ending = "\r" if raw is not None and raw.endswith("\r") else ""
    lines.append(_mark(raw) + ace_lines.render(bullet, form) + ending)


def _still_says(bullet: Bullet, said: ace_lines.BulletLine, form: Dialect) -> bool:
    counts = (bullet.helpful_count, bullet.harmful_count)
    same_counts = form == "bare" or counts == (said.helpful, said.harmful)
    return said.content == bullet.content and same_counts and said.id in (bullet.id, *bullet.aliases)


def _mark(raw: str | None) -> str:
    """The byte order mark, where the line being replaced has it."""
    return ace_lines.BOM if raw is not None and raw.startswith(ace_lines.BOM) else ""
