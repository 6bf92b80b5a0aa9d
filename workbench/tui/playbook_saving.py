"""Saving an edited bullet from an editor that stays open until it worked."""

from workbench.bench.playbook import Playbooks
from workbench.core.errors import Conflict, WorkbenchError
from workbench.core.playbook import Bullet


class Saving:
    """Saves an edited bullet for the editor: returns the sentence that says why it could not, or None.

    When the bullet was changed meanwhile, the first attempt says so and the next one replaces it.
    """

    def __init__(self, playbooks: Playbooks, bullet: Bullet) -> None:
        self._playbooks = playbooks
        self._book, self._id, self._base = bullet.book, bullet.id, bullet.content

    def __call__(self, text: str) -> str | None:
        try:
            self._playbooks.edit(self._book, self._id, text, self._base)
        except Conflict:
            self._base = self._playbooks.bullet(self._book, self._id).content
            return f"{self._id} was changed by someone else meanwhile. ctrl+s again replaces that."
        except WorkbenchError as error:
            return str(error)
        return None
