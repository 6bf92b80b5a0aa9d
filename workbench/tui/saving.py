"""Saving an edited text from an editor that stays open until it worked."""

from collections.abc import Callable

from workbench.core.errors import Conflict, WorkbenchError


class Saving:
    """Saves an edited text for the editor: returns the sentence that says why it could not, or None.

    `write(text, base)` raises `Conflict` when the text is no longer `base`. When it was changed meanwhile, the
    first attempt says so and the next one replaces it: `again` names its key. `read` returns the text as it is now.
    """

    def __init__(
        self,
        name: str,
        base: str,
        write: Callable[[str, str], object],
        read: Callable[[], str],
        again: str = "ctrl+s",
    ) -> None:
        self._name, self._base, self._again = name, base, again
        self._write, self._read = write, read

    def __call__(self, text: str) -> str | None:
        try:
            self._write(text, self._base)
        except Conflict:
            self._base = self._read()
            return f"{self._name} was changed by someone else meanwhile. {self._again} again replaces that."
        except WorkbenchError as error:
            return str(error)
        return None
