"""The panel beside the list of a playbook: what is under the cursor in full, a bullet's past from the journal too."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from textual import work
from textual.containers import Vertical
from textual.content import Content
from textual.worker import get_current_worker

from workbench.core.playbook.book import Bullet
from workbench.core.playbook.filter import BookFilter
from workbench.services.open import Workbench
from workbench.services.playbook.changes import LastChange
from workbench.services.playbook.playbook import BookView
from workbench.services.playbook.rules import REPLACED_BY
from workbench.tui.app.surviving import survives
from workbench.tui.playbook.detail import Around, bullet_detail, cut_detail, section_detail
from workbench.tui.playbook.rows import Row, rows_of
from workbench.tui.safety.flag_view import flags_of
from workbench.tui.stream.detail import DetailPane
from workbench.tui.widgets.lists.long_text import LongText


@dataclass(frozen=True, slots=True)
class _Shown:
    row: Row
    view: BookView
    words: tuple[str, ...]


@survives
class BulletPane(Vertical):
    """One bullet, section or cut of the budget in full; `keys` are those of the area's actions, by id."""

    def __init__(self, bench: Workbench, keys: Mapping[str, str]) -> None:
        self._text = LongText(id="bullet-detail")
        self.side = DetailPane(self._text)
        super().__init__(self.side, id="bullet-side")
        self._bench = bench
        self._keys = keys
        self._shown: _Shown | None = None

    def show(self, row: Row | None, view: BookView | None, words: tuple[str, ...]) -> None:
        """Show a row of a playbook, with the words of the filter marked in it."""
        self._shown = None if row is None or view is None else _Shown(row, view, words)
        self._draw()

    def _draw(self) -> None:
        self._text.update(Content("") if self._shown is None else self._detail(self._shown))

    def _detail(self, shown: _Shown) -> Content:
        row, book = shown.row, shown.view.playbook
        if row.cut is not None:
            return cut_detail(row.cut, shown.view.tokens, self._keys)
        siblings = book.in_section(row.section.id)
        if row.bullet is None:
            return section_detail(row, len(siblings) - row.count)
        told = Told(self._last_change(row.bullet), shown.words, self._keys, self.side.content_size.width or 60)
        return _in_full(self._bench, row, row.bullet, shown.view, told)

    def _last_change(self, bullet: Bullet) -> LastChange | None:
        """Return a bullet's latest change; the first look into the journal happens away from the keyboard."""
        if self._bench.playbooks.changes.begun:
            return self._bench.playbooks.last_change(bullet.book, bullet.id)
        self._look_back()
        return None

    @work(thread=True, exclusive=True, group="changes", exit_on_error=False)
    def _look_back(self) -> None:
        worker = get_current_worker()
        self._bench.playbooks.changes.catch_up()
        if not worker.is_cancelled and self._bench.playbooks.changes.begun:
            self.app.call_from_thread(self._draw)


class Told(NamedTuple):
    """What is said of a bullet besides what its playbook says: its last change, words to mark, keys, and how wide."""

    changed: LastChange | None
    words: tuple[str, ...] = ()
    keys: Mapping[str, str] = MappingProxyType({})
    width: int = 60


def bullet_text(bench: Workbench, key: str, width: int) -> Content:
    """Return a bullet (`BOOK/ID`) in full; raises `UnknownRecord` where it is gone."""
    book, _, id = key.rpartition("/")
    bullet, view = bench.playbooks.bullet(book, id), bench.playbooks.view(book)
    row = next(row for row in rows_of(view, BookFilter(), {}) if row.bullet is not None and row.bullet.id == id)
    changed = bench.playbooks.last_change(book, id) if bench.playbooks.changes.begun else None
    return _in_full(bench, row, bullet, view, Told(changed, width=width))


def _in_full(bench: Workbench, row: Row, bullet: Bullet, view: BookView, told: Told) -> Content:
    book, masked = view.playbook, bench.safety.masked
    siblings = book.in_section(row.section.id)
    replacement = bullet.metadata.get(REPLACED_BY)
    around = Around(
        now=bench.context.now(),
        place=1 + next((i for i, b in enumerate(siblings) if b.id == bullet.id), 0),
        siblings=len(siblings),
        changed=told.changed,
        words=told.words,
        flags=flags_of(bench.safety, bullet),
        masked=masked,
        usage=view.usage.get(bullet.id),
        replacement=next((masked(b.content) for b in book.bullets if b.id == replacement), ""),
        keys=told.keys,
        width=told.width,
    )
    return bullet_detail(row, bullet, around)
