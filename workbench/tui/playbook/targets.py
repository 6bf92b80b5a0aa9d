"""What a change in the playbook is for: the bullet under the cursor, or all marked ones."""

from collections.abc import Sequence

from workbench.core.playbook.book import Bullet, Section
from workbench.tui.playbook.browser import PlaybookBrowser
from workbench.tui.playbook.rows import title_of

ON_HEADING = "The cursor is on a heading. j goes to a bullet."
ONE_AT_A_TIME = "That key works on one bullet at a time. Without ; it takes the one under the cursor; the marks stay."


class PlaybookTargets(PlaybookBrowser):
    """The playbook with bullets that can be picked for a change."""

    def action_apply(self) -> None:
        """Let the next action apply to all marked rows."""
        self.arm(self.rows)

    def targets(self) -> list[str]:
        """Return the bullets the next change is for: the marked ones after `;`, else the one under the cursor."""
        every = self._armed and self.rows.mark_count
        rows = self.rows.marked_rows if every else [self.rows.current]
        self._armed = False
        ids = [row.bullet.id for row in rows if row and row.bullet]
        if not ids and self.rows.current is not None:
            self.workbench_app.say(ON_HEADING)
        return ids

    def done(self, sentence: str, ids: Sequence[str] = ()) -> None:
        """Say what happened; marks that were used are taken away."""
        if len(ids) > 1:
            self.rows.clear_marks()
        self.show_status()
        self.workbench_app.say(sentence)

    def bullet_called(self, id: str) -> Bullet | None:
        """Return a bullet that is shown, by its id."""
        bullets = self.view.playbook.bullets if self.view else ()
        return next((bullet for bullet in bullets if bullet.id == id), None)

    def bullet_here(self) -> Bullet | None:
        """Return the bullet under the cursor, or say that there is none, or that marked ones cannot be meant."""
        if self._armed and self.rows.mark_count:
            self._armed = False
            self.show_status()
            self.workbench_app.say(ONE_AT_A_TIME)
            return None
        row = self.rows.current
        if row is not None and row.bullet is None:
            self.workbench_app.say(ON_HEADING)
        return row.bullet if row else None


def named(ids: Sequence[str]) -> str:
    """Return one bullet's id, or how many there are."""
    return ids[0] if len(ids) == 1 else f"{len(ids)} bullets"


def title_in(sections: Sequence[Section], id: str) -> str:
    """Return the title of a section."""
    return next((title_of(s) for s in sections if s.id == id), id)
