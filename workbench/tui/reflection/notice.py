"""Says once when a reflection becomes due."""

from collections.abc import Iterable

from workbench.services.open import Workbench
from workbench.services.reflection.gauge import verdict_of
from workbench.tui.app.actions import GLOBAL, remapped

_BECAUSE = {
    "importance": "much that is important has come in",
    "observations": "many observations have come in",
    "hours": "the last one is long ago",
}


class DueNotice:
    """Looks whether a reflection is due. That the last one is long ago is no news when the app is opened.

    `keymap` is a person's own keys, by action id.
    """

    def __init__(self, bench: Workbench, keymap: Iterable[tuple[str, str]] = ()) -> None:
        own = remapped(GLOBAL, dict(keymap))
        self._key = next(action.shown_key for action in own if action.id == "app.reflect")
        self._context = bench.context
        verdict = verdict_of(self._context)
        self.due = verdict.due
        self._said = verdict.due and verdict.reason == "hours"

    def fresh(self) -> str:
        """Return a sentence the first time a reflection is due, and again after the next one."""
        verdict = verdict_of(self._context)
        self.due = verdict.due
        if not verdict.due:
            self._said = False
        if not verdict.due or self._said:
            return ""
        self._said = True
        return f"A reflection is due: {_BECAUSE.get(verdict.reason or '', 'it is time')}. {self._key} reflects."
