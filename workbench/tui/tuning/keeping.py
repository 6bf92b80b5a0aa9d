"""What Tune keeps and takes in: snapshots, profiles side by side, files of judged queries."""

from pathlib import Path

from textual import work

from workbench.bench.tuning.provenance import Birth
from workbench.bench.tuning.snapshots import Snapshots
from workbench.config.writing import set_values
from workbench.core.tuning.profile import Profile
from workbench.retrieval.embedding.thresholds import Thresholds
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.asking import asking
from workbench.tui.tuning.session import Desk

NO_QUERY = "There is no query. / writes one."


class TuneKeeping(AreaScreen):
    """The part of Tune that keeps settings and queries; the screen itself gives the desk."""

    _desk: Desk

    @property
    def _shelf(self) -> Snapshots:
        """The snapshots, of this app and of others."""
        return self.bench.tuning.snapshots

    @property
    def unsaved(self) -> str:
        """Say when the sliders stand where no profile and no snapshot has them."""
        desk = self._desk
        if not desk.changed or any(snapshot.profile == desk.profile for snapshot in self._shelf.all()):
            return ""
        return "The changed sliders of Tune are in no profile and no snapshot yet: s saves them, n keeps a snapshot."

    def _put_profile(self, profile: Profile, saved: Profile) -> None:
        raise NotImplementedError

    def _is_ready(self, *, query: bool = True) -> bool:
        raise NotImplementedError

    async def birth(self, profile: Profile | None = None) -> Birth | None:
        """Return what to say about settings (by default: the sliders') when they are saved."""
        raise NotImplementedError

    def keep_thresholds(self, thresholds: Thresholds) -> bool:
        """Write the thresholds of duplicates to the settings' file, and hold to them from now on."""
        path, before = self.workbench_app.options.config, self.bench.retriever.thresholds()
        if path is None:
            self.workbench_app.say("This store is for trying out: no settings are written. `workbench` alone has some.")
            return False
        with self.workbench_app.reporting():
            set_values(path, {"thresholds.duplicate": thresholds.flag, "thresholds.review": thresholds.review})
            self.bench.retriever.use_thresholds(thresholds)
            self.workbench_app.say(threshold_toast(before, thresholds, path))
            return True
        return False

    # Snapshots

    def action_snapshot(self) -> None:
        """Keep the settings as they are now."""
        same = next((s for s in self._shelf.all() if s.profile == self._desk.profile), None)
        if same is not None:
            self.workbench_app.say(f"Snapshot {same.name} holds these settings already. N lists the snapshots.")
            return
        with self.workbench_app.reporting():
            snapshot = self._shelf.take(self._desk.profile, self.bench.context.now())
            self.workbench_app.say(f"Snapshot {snapshot.name} is taken. N lists them: compare, go back, save.")

    @asking
    async def action_library(self) -> None:
        """Show snapshots and profiles, and take the settings that are chosen there."""
        from workbench.tui.tuning.profiles.library import Library, LibraryDialog
        from workbench.tui.tuning.profiles.sides import standing_in

        desk = self._desk
        side = await self.app.push_screen_wait(LibraryDialog(Library(desk, self._shelf, self.birth)))
        if side is None or side.profile is None:
            return
        if side.kind == "snapshot":
            self._put_profile(standing_in(side.profile, desk.saved), desk.saved)
            self.workbench_app.say(f"The sliders stand as in snapshot {side.name}. s saves them, r puts them back.")
        else:
            self._put_profile(side.profile, side.profile)
            self.workbench_app.say(f"Loaded {side.name}. {side.profile.about}")

    @asking
    async def action_compare(self) -> None:
        """Show this ranking beside that of a snapshot or a profile."""
        from workbench.tui.tuning.profiles.sides import choose_side, compare, sides

        if not self._is_ready():
            return
        found = sides(self._desk, self._shelf, self.bench.tuning.profiles)
        usual = next((side.id for side in found if side.name == self._desk.saved.name), found[0].id)
        other = await choose_side(self.workbench_app, "Compare with", found[1:], usual)
        if other is not None:
            await compare(self.workbench_app, self._desk, found, other, found[0])

    # Queries as files

    @asking
    async def action_export_queries(self) -> None:
        """Write the saved queries, their judgments, or a ranking of them to a file."""
        from workbench.tui.files.exports.words import written_said
        from workbench.tui.tuning.judging.queries_out import QueriesOut

        with self.workbench_app.reporting():
            written = await self.app.push_screen_wait(QueriesOut(self.bench, self._desk.saved.name))
            if written is not None:
                self.workbench_app.say(written_said(written))

    @work
    async def action_import_queries(self) -> None:
        """Read judged queries from a file, after a look at what is in it."""
        from workbench.tui.tuning.judging.queries_in import QueriesIn

        done: Path | None = None
        with self.workbench_app.reporting():
            done = await self.app.push_screen_wait(QueriesIn(self.bench))
        if done is not None:
            self.workbench_app.say(f"Took in what is new in {done.name}. u takes it back, f lists the queries.")


def threshold_toast(before: Thresholds, after: Thresholds, path: Path) -> str:
    """Say what was written, where, and what stood there, so that it can be put back."""
    pairs = (("duplicate", before.flag, after.flag), ("review", before.review, after.review))
    changed = ", ".join(f"thresholds.{name} {old:g} → {new:g}" for name, old, new in pairs if old != new)
    return f"{changed}, in {path}. It holds from now on; saving the old value takes it back."
