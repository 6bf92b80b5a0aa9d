"""What can be looked at side by side: the sliders as they stand, snapshots, and saved profiles."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from workbench.core.errors import WorkbenchError
from workbench.core.text import counted
from workbench.core.tuning.profile import Profile
from workbench.core.tuning.verdict import signed
from workbench.services.tuning.profiles import Profiles
from workbench.services.tuning.provenance import ProfileProvenance
from workbench.services.tuning.session import TuningSession
from workbench.services.tuning.snapshots import Snapshots
from workbench.tui.app.host import Host
from workbench.tui.tuning.profiles.compare import CompareDialog
from workbench.tui.widgets.choose import Choice, Choose
from workbench.tui.widgets.figures import day

Kind = Literal["sliders", "snapshot", "built in", "yours"]

SLIDERS = "sliders"
"""The id of the settings as they stand."""


@dataclass(frozen=True, slots=True)
class Side:
    """One set of parameters; without `profile`, `problem` says why its file cannot be used.

    `at` is when a snapshot was taken, `birth` what a saved profile was measured on.
    """

    kind: Kind
    name: str
    profile: Profile | None
    at: datetime | None = None
    birth: ProfileProvenance | None = None
    problem: str = ""

    @property
    def id(self) -> str:
        """What names it among all sides."""
        return SLIDERS if self.kind == "sliders" else f"{self.kind}:{self.name}"

    @property
    def is_profile(self) -> bool:
        """Whether it is a saved profile: built in, or a person's own."""
        return self.kind not in ("sliders", "snapshot")

    @property
    def title(self) -> str:
        """How it is called over a ranking."""
        return f"snapshot {self.name}" if self.kind == "snapshot" else self.name


def sides(session: TuningSession, shelf: Snapshots, profiles: Profiles) -> tuple[Side, ...]:
    """Return everything that can be compared: the sliders, the snapshots, the profiles."""
    name = f"{session.saved.name} • changed" if session.changed else session.saved.name
    now = Side("sliders", name, session.profile)
    kept = tuple(Side("snapshot", s.name, s.profile, s.at, problem=s.problem) for s in shelf.all())
    return (now, *kept, *saved_sides(profiles))


def saved_sides(profiles: Profiles) -> tuple[Side, ...]:
    """Return the profiles, the built-in ones first."""
    return tuple(_saved(profiles, name) for name in profiles.names())


def born(birth: ProfileProvenance) -> str:
    """Return a birth certificate in one line."""
    band = f"[{signed(birth.low)}, {signed(birth.high)}]"
    judgments = counted(birth.judgments, "judgment")
    made = f"set {birth.query_set[:7]} · {day(birth.at)}"
    return f"Δ {signed(birth.delta)} {band} over {birth.parent} · {judgments} · {made}"


def remark(side: Side) -> str:
    """Return what a list says beside a name."""
    if side.problem:
        return "cannot be read"
    if side.birth is not None:
        return born(side.birth)
    if side.kind == "sliders":
        return "as the sliders stand"
    if side.kind == "snapshot":
        return "snapshot"
    return side.profile.about if side.profile and side.profile.about else side.kind


def standing_in(profile: Profile, saved: Profile) -> Profile:
    """Return the settings of a snapshot as settings that come from `saved`."""
    return replace(profile, name=saved.name, about=saved.about)


async def choose_side(app: Host, title: str, found: Sequence[Side], current: str) -> Side | None:
    """Ask for one of them; one that cannot be read is a toast."""
    choices = [Choice(side.id, side.title, remark(side)) for side in found]
    chosen = await app.push_screen_wait(Choose(title, choices, current))
    side = next((side for side in found if side.id == chosen), None)
    if side is not None and side.profile is None:
        app.say(side.problem, "error")
        return None
    return side


async def compare(app: Host, session: TuningSession, found: Sequence[Side], left: Side, right: Side) -> None:
    """Show two rankings side by side, and others in their place for as long as a person asks for them."""
    while session.question is not None and left.profile is not None and right.profile is not None:
        named = ((left.title, left.profile), (right.title, right.profile))
        wanted = await app.push_screen_wait(
            CompareDialog(session.question, session.now, *named, app.bench.safety.masked)
        )
        if wanted is None:
            return
        title = "On the left" if wanted == "left" else "On the right"
        other = await choose_side(app, title, found, (left if wanted == "left" else right).id)
        if other is None:
            return
        left, right = (other, right) if wanted == "left" else (left, other)


def _saved(profiles: Profiles, name: str) -> Side:
    kind: Kind = "built in" if profiles.is_built_in(name) else "yours"
    try:
        profile = profiles.get(name)
    except WorkbenchError as error:
        return Side(kind, name, None, problem=str(error))
    try:
        return Side(kind, name, profile, birth=profiles.birth(name))
    except WorkbenchError as error:
        # The settings hold; only what they were measured on cannot be read.
        return Side(kind, name, profile, problem=str(error))
