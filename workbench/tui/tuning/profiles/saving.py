"""Saving a profile under a name; whatever goes wrong is said in the box, which stays open."""

from collections.abc import Callable

from workbench.core.errors import WorkbenchError
from workbench.core.tuning.profile import Profile
from workbench.tui.widgets.texts.prompt import Prompt
from workbench.tui.widgets.texts.safe_input import SafeInput


class SaveProfile(Prompt):
    """Ask for a name and save under it; the result is the name, or None.

    `check` raises `InvalidRecord` for a name that will not do; `save` raises whatever saving raises.
    """

    def __init__(self, name: str, check: Callable[[str], None], save: Callable[[str], Profile]) -> None:
        super().__init__("Save these settings as", name, placeholder="a name for the profile", check=sentence_of(check))
        self._save = sentence_of(save)

    def action_take(self) -> None:
        """Save, or say what is wrong."""
        name = self.query_one(SafeInput).value.strip()
        problem = self._check(name) or self._save(name)
        if problem:
            self._complain(f"✗ {problem}")
        else:
            self.dismiss(name)


def sentence_of(act: Callable[[str], object]) -> Callable[[str], str | None]:
    """Return what a prompt checks with: the sentence of the error that `act` raises, or `None`."""

    def tried(name: str) -> str | None:
        try:
            act(name)
        except WorkbenchError as error:
            return str(error)
        return None

    return tried
