"""The profile that a command ranks with."""

from typing import TYPE_CHECKING

from workbench.cli.output import say, write_json
from workbench.cli.parsing import wants_json
from workbench.cli.session import Session

if TYPE_CHECKING:
    from workbench.core.tuning.profile import Profile, ProfileInUse
    from workbench.services.open import Workbench


def profile_of(session: Session, bench: "Workbench") -> "Profile":
    """Return the profile of `--profile`, else the one in use; raises as that does."""
    named = session.args.profile
    return bench.tuning.default() if named is None else bench.tuning.profiles.get(named)


def profile_in_use(session: Session, bench: "Workbench") -> "ProfileInUse":
    """Return which profile a command ranks with, and where that is said."""
    from workbench.core.tuning.profile import ProfileInUse

    named = session.args.profile
    return ProfileInUse(named, "flag") if named else bench.tuning.used


def use(session: Session, bench: "Workbench", name: str) -> None:
    """Let the store be ranked under a profile, or without a name that of the settings, and say
    which is in use.
    """
    before, used = bench.tuning.used, bench.tuning.use(name)
    if wants_json(session.args):
        write_json({"profile": used.name, "profile_from": used.origin})
    elif name and used.origin != "store":
        say(f"The store uses {name}; here {used} goes before it.")
    elif used == before:
        say(f"{used} is in use already.")
    else:
        say(f"{used} ranks from now on, for agents too; `workbench undo` takes that back.")
