"""What a change in the playbook is for: the bullet under the cursor, or all marked ones."""

from collections.abc import Sequence

from workbench.core.playbook.book import Bullet, Section
from workbench.tui.app.area import AreaScreen
from workbench.tui.playbook.browser import BookBrowser
from workbench.tui.playbook.rows import title_of
from workbench.tui.widgets.keys import keyed

ON_HEADING = "The cursor is on a heading. {list.down} goes to a bullet."


class Targets:
    """Picks the bullets of a browser that the next key is for, and says what was done to them."""

    def __init__(self, area: AreaScreen, browser: BookBrowser) -> None:
        self._area = area
        self._browser = browser

    @property
    def book(self) -> str:
        """The id of the open playbook."""
        return self._browser.book

    def ids(self) -> list[str]:
        """Return the bullets the next change is for: the marked ones, else the one under the cursor."""
        rows = self._browser.rows
        ids = [row.bullet.id for row in self._area.take_targets(rows) if row.bullet]
        if not ids and rows.current is not None:
            self._area.workbench_app.say(keyed(ON_HEADING))
        return ids

    def one(self) -> Bullet | None:
        """Return the bullet under the cursor, or say that there is none."""
        row = self._browser.rows.current
        if row is not None and row.bullet is None:
            self._area.workbench_app.say(keyed(ON_HEADING))
        return row.bullet if row else None

    def done(self, sentence: str, ids: Sequence[str] = ()) -> None:
        """Say what happened; the marks of what it was done to (`ids`) go."""
        if ids:
            self._browser.rows.clear_marks()
        self._area.show_status()
        self._area.workbench_app.say(sentence)


def named(ids: Sequence[str]) -> str:
    """Return one bullet's id, or how many there are."""
    return ids[0] if len(ids) == 1 else f"{len(ids)} bullets"


def title_in(sections: Sequence[Section], id: str) -> str:
    """Return the title of a section."""
    return next((title_of(s) for s in sections if s.id == id), id)
