"""The profile that a command ranks with."""

from typing import TYPE_CHECKING

from workbench.cli.output import warn
from workbench.cli.session import Session
from workbench.config import paths
from workbench.config.told import new_default

if TYPE_CHECKING:
    from workbench.bench.open import Workbench
    from workbench.core.tuning.profile import Profile


def profile_of(session: Session, bench: "Workbench", *, tell: bool = True) -> "Profile":
    """Return the profile of `--profile`, else the default one; raises as that does."""
    named = session.args.profile
    return default_profile(session, bench, tell=tell) if named is None else bench.tuning.profiles.get(named)


def default_profile(session: Session, bench: "Workbench", *, tell: bool = True) -> "Profile":
    """Return the profile that the settings name.

    A person is told once that the shipped default is another one; what runs for an agent (`tell` off) says nothing of
    it. Raises `UnknownRecord`, or `InvalidRecord` for a profile that cannot be read.
    """
    if tell and (said := new_default(session.settings(), paths.state_dir())):
        warn(said)
    return bench.tuning.default()
