"""What Tune keeps and takes in: profiles, snapshots, profiles side by side, files of judged queries."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from textual.content import Content

from workbench.config.writing import set_values
from workbench.core.duplicates.thresholds import Thresholds
from workbench.core.record import InvalidQuery
from workbench.core.served import hidden_because
from workbench.core.stream.memory import Memory
from workbench.core.tuning.candidates import candidate_filter
from workbench.core.tuning.profile import (
    FEEDBACK_HALF_LIFE,
    LITERAL_FEEDBACK_HALF_LIFE,
    FrozenBounds,
    LexicalRule,
    PinnedHandling,
    Profile,
    RankOrder,
    RecencyMode,
)
from workbench.services.tuning.measuring import Measuring
from workbench.services.tuning.profiles import ProfileProvenance, Snapshots
from workbench.services.tuning.session import TuningSession, left_out_because
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.host import Host
from workbench.tui.tuning.profiles import name_prompt, remark, saved_sides, sentence_of
from workbench.tui.widgets.content import key_of, keyed, undo
from workbench.tui.widgets.dialog import Choice, Choose, Confirm
from workbench.tui.widgets.texts.prompt import Prompt

# What a ranking has besides numbers: how recency counts, whose minimum and maximum normalise, who takes part.


CANDIDATES = "candidates"
"""The option that asks for a filter."""

TOP_NS = (20, 50, 100, 200)


def choices(profile: Profile, bounds: FrozenBounds | None) -> Sequence[Choice]:
    """Return every option; those that hold are said to. `bounds` are those of the present ranking."""
    labels = dict(_LABELS)
    if profile.frozen is not None:
        labels["frozen"] = "0 to 1 by the frozen bounds"
    found = [Choice(id, label, _remark(id, profile)) for id, label in labels.items()]
    if bounds is not None:
        how = "anew" if profile.frozen is not None else "for every query and moment"
        found.append(Choice("freeze", f"Freeze the bounds of this ranking {how}"))
    only = f"Candidates: only {profile.candidates}" if profile.candidates else "Candidates: all that may be served"
    return [*found, Choice(CANDIDATES, only, keyed("{tune.candidates} asks for a filter"))]


def with_option(profile: Profile, id: str, bounds: FrozenBounds | None = None) -> Profile:
    return replace(profile, scope="frozen", frozen=bounds) if id == "freeze" else _with(id)(profile)


def _remark(id: str, profile: Profile) -> str:
    if id.startswith("pinned-") and not profile.fades:
        return "recency does not fade with time"
    if profile.scorer == "episodic" and id.startswith("votes-"):
        return "the score of episodes has no votes"
    if profile.scorer == "episodic" and (id in ("pool", "frozen") or id.startswith("top-")):
        return "episodes are not normalised"
    return "now" if _with(id)(profile) == profile else ""


def _with(id: str) -> Callable[[Profile], Profile]:
    return _OPTIONS[id] if id in _OPTIONS else partial(_top, int(id.removeprefix("top-")))


def _mode(mode: RecencyMode, order: RankOrder, profile: Profile) -> Profile:
    return replace(profile, mode=mode, rank_order=order if mode == "rank" else profile.rank_order)


def _pinned(handling: PinnedHandling, profile: Profile) -> Profile:
    return replace(profile, pinned=handling)


def _votes_fade(half_life: float, profile: Profile) -> Profile:
    return replace(profile, feedback_half_life=half_life)


def _lexical(rule: LexicalRule, profile: Profile) -> Profile:
    return replace(profile, lexical=rule)


def _pool(profile: Profile) -> Profile:
    return replace(profile, scope="pool")


def _frozen(profile: Profile) -> Profile:
    return replace(profile, scope="frozen")


def _top(top_n: int, profile: Profile) -> Profile:
    return replace(profile, scope="top", top_n=top_n)


_OPTIONS: dict[str, Callable[[Profile], Profile]] = {
    "hours": partial(_mode, "hours", "newest"),
    "days": partial(_mode, "days", "newest"),
    "rank": partial(_mode, "rank", "newest"),
    "rank-oldest": partial(_mode, "rank", "oldest"),
    "off": partial(_mode, "off", "newest"),
    "pinned-fresh": partial(_pinned, "fresh"),
    "pinned-fades": partial(_pinned, "fades"),
    "votes-slow": partial(_votes_fade, FEEDBACK_HALF_LIFE),
    "votes-literal": partial(_votes_fade, LITERAL_FEEDBACK_HALF_LIFE),
    "lexical-bm25": partial(_lexical, "bm25"),
    "lexical-absolute": partial(_lexical, "absolute"),
    "pool": _pool,
    "frozen": _frozen,
}
_LABELS = {
    "hours": "Recency by the hours since the last access",
    "days": "Recency by the days since it was made, exp(−age / τ)",
    "rank": "Recency by rank, newest first",
    "rank-oldest": "Recency by rank, oldest first",
    "off": "Recency off",
    "pinned-fresh": "Pinned memories stay fresh",
    "pinned-fades": "Pinned memories fade as the others do",
    "votes-slow": "Votes fade slower than recency, by half in 29 d",
    "votes-literal": "Votes fade as ENGRAM prints it, × 0.99 an hour",
    "lexical-bm25": "Full text as BM25, against the mean length",
    "lexical-absolute": "Full text word by word, with words around",
    "pool": "0 to 1 over all served memories",
    **{f"top-{n}": f"0 to 1 over the {n} most relevant" for n in TOP_NS},
}


# What the tuning screen asks: which query, which profile, which memory, under what name.


SHOWN = 500
"""How many memories are listed at most."""

SEEN, LOOKED_AT = 400, 4_000
"""Characters of a line that are shown at most, and those that are looked at for secrets before."""


async def choose_profile(app: Host, session: TuningSession) -> Profile | None:
    """Ask which profile to load, and whether unsaved settings may go; a broken one is a toast."""
    profiles = app.bench.tuning.profiles
    found = [Choice(side.name, side.name, remark(side)) for side in saved_sides(profiles)]
    chosen = await app.push_screen_wait(Choose("Load a profile", found, session.saved.name))
    if chosen is None:
        return None
    detail = Content(keyed("They are not saved in a profile; {tune.save} saves them."))
    question = f"Load {chosen} and discard the changed settings?"
    if session.changed and not await app.push_screen_wait(
        Confirm(question, clock=time.monotonic, detail=detail, yes="load", guard=0.0)
    ):
        return None
    with app.reporting():
        return profiles.get(chosen)
    return None


async def choose_option(app: Host, session: TuningSession) -> Profile | None:
    """Ask how recency counts, what normalises and who takes part."""
    bounds = session.bounds()
    chosen = await app.push_screen_wait(Choose("How the ranking works", choices(session.profile, bounds)))
    if chosen == CANDIDATES:
        return await choose_candidates(app, session)
    return None if chosen is None else with_option(session.profile, chosen, bounds)


async def choose_candidates(app: Host, session: TuningSession) -> Profile | None:
    """Ask for the candidate filter; return the settings with it, whose candidates are known then."""

    def check(text: str) -> None:
        candidate_filter(text, session.now)

    title = "Which memories take part? Nothing: all that may be served"
    hint = "type:error,failure  memory:semantic  -tag:wip  since:30d"
    text = await app.push_screen_wait(
        Prompt(title, session.profile.candidates, placeholder=hint, check=sentence_of(check))
    )
    if text is None:
        return None
    if text and session.question is not None:
        # Every memory is looked at once, which takes a moment in a large store.
        await asyncio.to_thread(session.question.ranker.pool.matching, text, session.now)
    return replace(session.profile, candidates=text)


async def choose_memory(app: Host, session: TuningSession) -> str | None:
    """Ask for any memory of the store, by the filter language of the Stream; return its id."""

    def search(text: str) -> Sequence[Choice] | str:
        try:
            found = app.bench.stream.view(text).memories[:SHOWN]
        except InvalidQuery as error:
            return str(error)
        return [Choice(memory.id, memory.line[:LOOKED_AT], _place(session, memory)) for memory in found]

    def shown(label: str) -> str:
        return app.bench.safety.masked(label)[:SEEN]

    return await app.push_screen_wait(Choose("Why not this one?", search=search, shown=shown))


async def save_profile(app: Host, session: TuningSession, birth: ProfileProvenance | None = None) -> Profile | None:
    """Ask for a name and save the settings under it, with their birth certificate; return them as saved."""
    tuning, parent = app.bench.tuning, session.saved.name
    name = await app.push_screen_wait(
        name_prompt(
            "" if tuning.profiles.is_built_in(parent) else parent,
            lambda name: tuning.profiles.check_name(name, parent),
            lambda name: tuning.save(session.profile, name, parent, birth),
        )
    )
    return None if name is None else tuning.profiles.get(name)


def _place(session: TuningSession, memory: Memory) -> str:
    if session.ranking is None or memory.id not in session.ranking.pool.row_of:
        return hidden_because(memory, session.now) or "not ranked yet"
    return left_out_because(memory, session.ranking) or f"#{session.ranking.place_of(memory.id)}"


NO_QUERY = "No query yet: {tune.query} writes one."

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
        profile = await choose_profile(self._app, self._session)
        if profile is not None:
            self._put(profile, profile)
            self._app.say(f"Loaded {profile.name}. {profile.about}")

    async def save(self) -> None:
        """Save the settings as a profile; the movement marks then start from it."""
        profile = await save_profile(self._app, self._session, await self.birth())
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
                f"Snapshot {same.name} already has these settings. {key_of('tune.library')} lists the snapshots."
            )
            return
        with self._app.reporting():
            snapshot = self._shelf.take(self._session.profile, self._bench.context.now())
            self._app.say(
                f"Snapshot {snapshot.name} is taken. {key_of('tune.library')} lists them: compare, go back, save."
            )

    async def library(self) -> None:
        """Show snapshots and profiles, and take the settings that are chosen there."""
        from workbench.tui.tuning.profiles import Library, LibraryDialog, standing_in

        session = self._session
        side = await self._app.push_screen_wait(LibraryDialog(Library(session, self._shelf, self.birth)))
        if side is None or side.profile is None:
            return
        if side.kind == "snapshot":
            self._put(standing_in(side.profile, session.saved), session.saved)
            self._app.say(
                f"The sliders are set to snapshot {side.name}. {key_of('tune.save')} saves them, "
                f"{key_of('tune.revert')} resets them."
            )
        else:
            self._put(side.profile, side.profile)
            self._app.say(f"Loaded {side.name}. {side.profile.about}")

    async def compare(self) -> None:
        """Show this ranking beside that of a snapshot or a profile."""
        from workbench.tui.tuning.profiles import choose_side, compare, sides

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
        from workbench.tui.files.exports.preview import written_said
        from workbench.tui.tuning.judging.query_files import QueriesOut

        with self._app.reporting():
            written = await self._app.push_screen_wait(QueriesOut(self._bench, self._session.saved.name))
            if written is not None:
                self._app.say(written_said(written))

    async def import_queries(self) -> None:
        """Read judged queries from a file, after a look at what is in it."""
        from workbench.tui.tuning.judging.query_files import QueriesIn

        done: Path | None = None
        with self._app.reporting():
            done = await self._app.push_screen_wait(QueriesIn(self._bench))
        if done is not None:
            self._app.say(
                f"Imported the new queries of {done.name}. {undo()} undoes it, "
                f"{key_of('tune.queries')} lists the queries."
            )


def threshold_toast(before: Thresholds, after: Thresholds, path: Path) -> str:
    """Say what was written, where, and what stood there, so that it can be put back."""
    pairs = (("duplicate", before.flag, after.flag), ("review", before.review, after.review))
    changed = ", ".join(f"thresholds.{name} {old:g} → {new:g}" for name, old, new in pairs if old != new)
    return f"{changed}, in {path}. It applies from now on; save the old value to revert it."
