"""What Tune keeps and takes in: profiles, snapshots, profiles side by side, files of judged queries."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from workbench.config.writing import set_values
from workbench.core.duplicates.thresholds import Thresholds
from workbench.core.tuning.profile import Profile
from workbench.services.tuning.measuring import Measuring
from workbench.services.tuning.provenance import ProfileProvenance
from workbench.services.tuning.session import TuningSession
from workbench.services.tuning.snapshots import Snapshots
from workbench.tui.app.area import AreaScreen
from workbench.tui.tuning import dialogs
from workbench.tui.widgets.keys import key_of, keyed, undo

NO_QUERY = "There is no query. {tune.query} writes one."

Put = Callable[[Profile, Profile], None]
"""Puts the sliders where a profile has them, against a saved one."""


def is_ready(area: AreaScreen, session: TuningSession, *, query: bool = True) -> bool:
    """Tell whether there is a model, and a query unless none is needed, or say what is missing."""
    if not area.bench.tuning.ready:
        area.workbench_app.say("The model is still loading. Try again in a moment.")
    elif query and session.question is None:
        area.workbench_app.say(keyed(NO_QUERY))
    else:
        return True
    return False


class Keeping:
    """Keeps the settings of a session, and puts kept ones back on the sliders."""

    def __init__(self, area: AreaScreen, session: TuningSession, measuring: Measuring, put: Put) -> None:
        self._area, self._app, self._bench = area, area.workbench_app, area.bench
        self._session = session
        self._measuring = measuring
        self._put = put

    @property
    def _shelf(self) -> Snapshots:
        """The snapshots, of this app and of others."""
        return self._bench.tuning.snapshots

    @property
    def unsaved(self) -> str:
        """Say when the sliders stand where no profile and no snapshot has them."""
        if self._session.is_kept(snapshot.profile for snapshot in self._shelf.all()):
            return ""
        return keyed(
            "The changed sliders of Tune are in no profile and no snapshot yet: {tune.save} saves "
            "them, {tune.snapshot} keeps a snapshot."
        )

    # Profiles

    async def birth(self, profile: Profile | None = None) -> ProfileProvenance | None:
        """Return what to say about settings (by default: the sliders') when they are saved."""
        if not self._bench.tuning.ready:
            return None
        session = self._session
        return await asyncio.to_thread(self._measuring.birth, session.saved, profile or session.profile)

    async def load(self) -> None:
        """Load a profile; changed settings go only after a yes."""
        profile = await dialogs.choose_profile(self._app, self._session)
        if profile is not None:
            self._put(profile, profile)
            self._app.say(f"Loaded {profile.name}. {profile.about}")

    async def save(self) -> None:
        """Save the settings as a profile; the movement marks then start from it."""
        profile = await dialogs.save_profile(self._app, self._session, await self.birth())
        if profile is not None:
            self._put(profile, profile)
            self._app.say(f"Saved {profile.name}. {key_of('tune.use')} Use for agents.")

    def keep_thresholds(self, thresholds: Thresholds) -> bool:
        """Write the thresholds of duplicates to the settings' file, and hold to them from now on."""
        path, before = self._app.options.config, self._bench.retriever.thresholds()
        if path is None:
            self._app.say("This store is for trying out: no settings are written. `workbench` alone has some.")
            return False
        with self._app.reporting():
            set_values(path, {"thresholds.duplicate": thresholds.flag, "thresholds.review": thresholds.review})
            self._bench.retriever.use_thresholds(thresholds)
            self._app.say(threshold_toast(before, thresholds, path))
            return True
        return False

    # Snapshots

    def snapshot(self) -> None:
        """Keep the settings as they are now."""
        same = next((s for s in self._shelf.all() if s.profile == self._session.profile), None)
        if same is not None:
            self._app.say(
                f"Snapshot {same.name} holds these settings already. {key_of('tune.library')} lists the snapshots."
            )
            return
        with self._app.reporting():
            snapshot = self._shelf.take(self._session.profile, self._bench.context.now())
            self._app.say(
                f"Snapshot {snapshot.name} is taken. {key_of('tune.library')} lists them: compare, go back, save."
            )

    async def library(self) -> None:
        """Show snapshots and profiles, and take the settings that are chosen there."""
        from workbench.tui.tuning.profiles.library import Library, LibraryDialog
        from workbench.tui.tuning.profiles.sides import standing_in

        session = self._session
        side = await self._app.push_screen_wait(LibraryDialog(Library(session, self._shelf, self.birth)))
        if side is None or side.profile is None:
            return
        if side.kind == "snapshot":
            self._put(standing_in(side.profile, session.saved), session.saved)
            self._app.say(
                f"The sliders stand as in snapshot {side.name}. {key_of('tune.save')} saves them, "
                f"{key_of('tune.revert')} puts them back."
            )
        else:
            self._put(side.profile, side.profile)
            self._app.say(f"Loaded {side.name}. {side.profile.about}")

    async def compare(self) -> None:
        """Show this ranking beside that of a snapshot or a profile."""
        from workbench.tui.tuning.profiles.sides import choose_side, compare, sides

        if not is_ready(self._area, self._session):
            return
        found = sides(self._session, self._shelf, self._bench.tuning.profiles)
        usual = next((side.id for side in found if side.name == self._session.saved.name), found[0].id)
        other = await choose_side(self._app, "Compare with", found[1:], usual)
        if other is not None:
            await compare(self._app, self._session, found, other, found[0])

    # Queries as files

    async def export_queries(self) -> None:
        """Write the saved queries, their judgments, or a ranking of them to a file."""
        from workbench.tui.files.exports.words import written_said
        from workbench.tui.tuning.judging.queries_out import QueriesOut

        with self._app.reporting():
            written = await self._app.push_screen_wait(QueriesOut(self._bench, self._session.saved.name))
            if written is not None:
                self._app.say(written_said(written))

    async def import_queries(self) -> None:
        """Read judged queries from a file, after a look at what is in it."""
        from workbench.tui.tuning.judging.queries_in import QueriesIn

        done: Path | None = None
        with self._app.reporting():
            done = await self._app.push_screen_wait(QueriesIn(self._bench))
        if done is not None:
            self._app.say(
                f"Took in what is new in {done.name}. {undo()} takes it back, "
                f"{key_of('tune.queries')} lists the queries."
            )


def threshold_toast(before: Thresholds, after: Thresholds, path: Path) -> str:
    """Say what was written, where, and what stood there, so that it can be put back."""
    pairs = (("duplicate", before.flag, after.flag), ("review", before.review, after.review))
    changed = ", ".join(f"thresholds.{name} {old:g} → {new:g}" for name, old, new in pairs if old != new)
    return f"{changed}, in {path}. It holds from now on; saving the old value takes it back."
