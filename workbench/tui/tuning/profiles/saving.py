"""Saving a profile under a name, where whatever goes wrong is said in the box, and putting one to use."""

from collections.abc import Callable

from workbench.core.errors import WorkbenchError
from workbench.core.tuning.profile import Profile
from workbench.tui.app.host import Host
from workbench.tui.widgets.keys import undo
from workbench.tui.widgets.texts.prompt import Prompt


def name_prompt(name: str, check: Callable[[str], None], save: Callable[[str], Profile]) -> Prompt:
    """Return a prompt for a name that saves under it; its result is the name, or None.

    `check` raises `InvalidRecord` for a name that will not do; `save` raises whatever saving raises.
    """
    hint = "a name for the profile"
    return Prompt("Save these settings as", name, placeholder=hint, check=sentence_of(check), take=save)


def sentence_of(act: Callable[[str], object]) -> Callable[[str], str | None]:
    """Return what a prompt checks with: the sentence of the error that `act` raises, or `None`."""

    def tried(name: str) -> str | None:
        try:
            act(name)
        except WorkbenchError as error:
            return str(error)
        return None

    return tried


def use(app: Host, name: str) -> bool:
    """Let the store be ranked under a profile, for agents too, and say so; tell whether it was done."""
    with app.reporting():
        before, used = app.bench.tuning.used, app.bench.tuning.use(name)
        if used.origin != "store":
            app.say(f"The store uses {name}; here {used} goes before it.")
        elif used == before:
            app.say(f"{used} is in use already.")
        else:
            app.say(f"{used} ranks from now on, for agents too; {undo()} takes that back.")
        return True
    return False
