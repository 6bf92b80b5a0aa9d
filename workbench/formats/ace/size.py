"""How long the text of an ACE playbook is, kept up as the playbook changes."""

from typing import NamedTuple

from workbench.core.playbook.book import Book, Bullet, Playbook
from workbench.formats.ace.writing import as_written, bullet_lines, section_lines


class _Extent(NamedTuple):
    """How many lines are written, their characters without line ends, and the last one (`None`: no line)."""

    lines: int
    characters: int
    last: str | None


class BookSize:
    """The characters of one playbook's text, without writing it: a bullet is measured when it is another one.

    Any thread may ask. Bullets are told apart as objects: they are frozen, and a store keeps those that stay as they
    are.
    """

    def __init__(self) -> None:
        self._known: tuple[Book, dict[str, tuple[Bullet, _Extent]]] = (Book(), {})

    def characters(self, playbook: Playbook) -> int:
        """Return the length of what `write_playbook` makes of a playbook."""
        book = playbook.book
        before, known = self._known
        if before.dialect != book.dialect:
            known = {}
        now: dict[str, tuple[Bullet, _Extent]] = {}
        count, characters, above = 0, 0, None
        for section, bullets in as_written(playbook):
            lines, length, last = _extent(section_lines(section, above))
            count, characters, above = count + lines, characters + length, above if last is None else last
            for bullet in bullets:
                found = known.get(bullet.id)
                if found is None or found[0] is not bullet:
                    found = (bullet, _extent(bullet_lines(bullet, book)))
                now[bullet.id] = found
                lines, length, last = found[1]
                count, characters, above = count + lines, characters + length, above if last is None else last
        self._known = (book, now)
        lines, length, _ = _extent(list(book.tail))
        ends = max(0, count + lines - (not book.final_newline))
        return characters + length + ends * len(book.newline)


def _extent(lines: list[str]) -> _Extent:
    return _Extent(len(lines), sum(map(len, lines)), lines[-1] if lines else None)
