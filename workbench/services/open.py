"""Opens a store and hands out its areas: the one place where the bench is put together.

An area is made, and its modules imported, when it is first asked for: what the first screen does
not need does not make it wait.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property, partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.config import paths
from workbench.config.loading import Settings
from workbench.core.record import StoreProblem
from workbench.core.runtime import Cancelled, implementation
from workbench.core.team import BEGUN_ANEW
from workbench.services.caches import begin, place
from workbench.services.context import NOWHERE, Clock, Context, DocumentPlaces
from workbench.services.safety.secret_filter import SecretFilter
from workbench.services.safety.verdicts import Origins, Verdicts
from workbench.store.library import Library, utc_now

if TYPE_CHECKING:
    from workbench.services.agents.capture.catching_up import CatchUp
    from workbench.services.agents.capture.transcripts import Transcripts
    from workbench.services.agents.consolidation import Consolidating
    from workbench.services.agents.documents.documents import Documents
    from workbench.services.agents.documents.stored import StoredDocuments
    from workbench.services.agents.episode_finding import EpisodeFinder
    from workbench.services.agents.episodes import Episodes
    from workbench.services.agents.index import IndexFile
    from workbench.services.agents.patterns import PatternIntake, Patterns
    from workbench.services.agents.plans import Plans
    from workbench.services.agents.replay import Replay
    from workbench.services.agents.served_lately import ServedLately
    from workbench.services.agents.sessions import AgentSessions
    from workbench.services.claims import StillTrue
    from workbench.services.duplicates.bullets import BulletDuplicates
    from workbench.services.duplicates.memories import Deduplication
    from workbench.services.files.exporting import Exporter
    from workbench.services.files.folders import FolderExporter
    from workbench.services.files.importing import Difference, Importer
    from workbench.services.files.replaced import Replaced
    from workbench.services.health.doctor import Doctor
    from workbench.services.health.history import History
    from workbench.services.health.overview import Overview
    from workbench.services.health.purge import Purge
    from workbench.services.health.quality import Quality
    from workbench.services.health.trends import TrendsLook
    from workbench.services.health.upkeep import Upkeep
    from workbench.services.playbook.curation import Curator, CuratorRequest
    from workbench.services.playbook.playbook import Playbooks
    from workbench.services.promotion.copies import Copies
    from workbench.services.promotion.promotion import Promotion
    from workbench.services.reflection.reflection import Reflecting
    from workbench.services.reflection.wording import BookWording, Refinement
    from workbench.services.review.finders import SuggestionFinder
    from workbench.services.review.queue import ImpactPreview
    from workbench.services.review.review import Review
    from workbench.services.safety.agent_view import AgentView
    from workbench.services.safety.leaks import Leaks
    from workbench.services.safety.safety import Safety
    from workbench.services.safety.trust import Trust
    from workbench.services.stream.archiving import Archiving
    from workbench.services.stream.fields import MemoryFields
    from workbench.services.stream.ingest import Ingest
    from workbench.services.stream.replacing import Replacing
    from workbench.services.stream.stream import Stream
    from workbench.services.tuning.evaluation import Evaluator
    from workbench.services.tuning.queries import Judging
    from workbench.services.tuning.retriever import Retriever
    from workbench.services.tuning.tuning import Tuning
    from workbench.store.log import SharedLog


class Part:
    """An area of the workbench: it is made, and its module imported, when it is first asked for."""

    def __init__(self, place: str, given: Sequence[str]) -> None:
        self._place, self._given = place, given

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, bench: "Workbench", owner: type) -> Any:
        def given(name: str) -> Any:
            late = name.removeprefix("lambda: ")
            return attrgetter(name)(bench) if late == name else partial(attrgetter(late), bench)

        make = implementation(f"workbench.services.{self._place}")
        return vars(bench).setdefault(self._name, make(bench.context, *map(given, self._given)))


def part(place: str, *given: str) -> Any:
    """Name the class of an area, and which other ones it is given, some not before it asks."""
    return Part(place, given)


class Workbench:
    """An open store with everything a person or an agent can do to it.

    `profiles` is the folder of a person's own retrieval profiles, `replaced` that of the copies of
    files that went on a person's word; without one, none goes. `gate` is what the store's changes
    go through: it tells what was masked.
    """

    stream: "Stream" = part("stream.stream:Stream")
    """Single memories."""
    review: "Review" = part("review.review:Review", "lambda: retriever")
    """What waits for a decision."""
    history: "History" = part("health.history:History")
    """What was done, and the way back."""
    overview: "Overview" = part("health.overview:Overview", "lambda: review")
    """The store as a whole, in counts."""
    trends: "TrendsLook" = part("health.trends:TrendsLook")
    """How the store goes, day by day."""
    quality: "Quality" = part(
        "health.quality:Quality", "lambda: retriever", "lambda: tuning.profiles"
    )
    """Whether memory gets better, week by week."""
    retriever: "Retriever" = part("tuning.retriever:Retriever")
    """The ranking and its model; importing the numeric libraries is what makes it late."""
    playbooks: "Playbooks" = part("playbook.playbook:Playbooks")
    """Bullets and sections."""
    bullet_duplicates: "BulletDuplicates" = part(
        "duplicates.bullets:BulletDuplicates", "playbooks", "lambda: retriever"
    )
    curating: "Curator" = part("playbook.curation:Curator", "playbooks")
    """What a Curator or a Reflector suggests for a playbook."""
    curation: "CuratorRequest" = part(
        "playbook.curation:CuratorRequest", "playbooks", "curating", "safety.masked"
    )
    """What Claude suggests for a playbook, asked as Curator and Reflector."""
    wording: "BookWording" = part("reflection.wording:BookWording", "safety.masked")
    """One text for several bullets, by Claude."""
    evaluator: "Evaluator" = part("tuning.evaluation:Evaluator", "retriever", "tuning.profiles")
    """Metrics, verdicts and auto-tune over query sets."""
    refinement: "Refinement" = part("reflection.wording:Refinement")
    """Other words for a candidate, by Claude."""
    impact: "ImpactPreview" = part(
        "review.queue:ImpactPreview", "review.outcome", "retriever", "tuning.profiles"
    )
    """What approving would do to the saved queries."""
    judging: "Judging" = part("tuning.queries:Judging")
    """Graded judgments of saved queries."""
    deduplication: "Deduplication" = part("duplicates.memories:Deduplication", "lambda: retriever")
    """Groups of memories that say the same."""
    upkeep: "Upkeep" = part("health.upkeep:Upkeep", "lambda: retriever")
    """What the lifecycle suggests."""
    still_true: "StillTrue" = part("claims:StillTrue")
    """Whether what memories and bullets name still is in the working tree."""
    ingest: "Ingest" = part("stream.ingest:Ingest", "retriever")
    """The way in for single observations."""
    fields: "MemoryFields" = part("stream.fields:MemoryFields")
    """Edits of single fields of memories."""
    replacing: "Replacing" = part("stream.replacing:Replacing", "gate", "copies")
    """Replacing words across the store."""
    archiving: "Archiving" = part("stream.archiving:Archiving")
    index_file: "IndexFile" = part("agents.index:IndexFile", "safety", "lambda: exporter")
    """The overview of the store, and the file that it is written to."""
    importer: "Importer" = part("files.importing:Importer")
    """The way in for files."""
    exporter: "Exporter" = part("files.exporting:Exporter", "playbooks", "replaced")
    """The way out to files."""
    folder_exporter: "FolderExporter" = part("files.folders:FolderExporter", "replaced")
    """The way back into folders of notes."""
    safety: "Safety" = part("safety.safety:Safety")
    """What the texts hold that should not travel."""
    leaks: "Leaks" = part("safety.leaks:Leaks", "safety")
    """Secrets in whatever the store keeps beside its records' texts."""
    trust: "Trust" = part("safety.trust:Trust", "lambda: safety")
    """How far the store is trusted."""
    care: "Doctor" = part("health.doctor:Doctor")
    """What is wrong with the store, and what to do about it."""
    eraser: "Purge" = part("health.purge:Purge", "history", "replaced")
    agent_sessions: "AgentSessions" = part("agents.sessions:AgentSessions")
    given_lately: "ServedLately" = part(
        "agents.served_lately:ServedLately",
        "agent_sessions",
        "lambda: impact",
        "lambda: tuning.profiles",
    )
    """Which agents had a memory lately."""
    catch_up: "CatchUp" = part("agents.capture.catching_up:CatchUp", "lambda: retriever")
    """Comparing what hooks captured with what was there."""
    documents: "Documents" = part("agents.documents.documents:Documents")
    """The documents of agents, in the store and on disk."""
    stored_documents: "StoredDocuments" = part("agents.documents.stored:StoredDocuments")
    episodes: "Episodes" = part("agents.episodes:Episodes")
    """What agents did."""
    episode_finder: "EpisodeFinder" = part(
        "agents.episode_finding:EpisodeFinder", "lambda: retriever"
    )
    """The way to episodes, by five strategies."""
    consolidating: "Consolidating" = part(
        "agents.consolidation:Consolidating", "episode_finder", "patterns", "lambda: retriever"
    )
    """The way to consolidate episodes and patterns, stage by stage."""
    pattern_intake: "PatternIntake" = part("agents.patterns:PatternIntake", "gate")
    """The way in for files of patterns."""
    replay: "Replay" = part("agents.replay:Replay", "tuning", "safety", "_as_it_was")
    """What agents would have been given in a session, then and now."""

    def __init__(
        self,
        context: Context,
        profiles: Path,
        replaced: Path | None = None,
        gate: SecretFilter | None = None,
    ) -> None:
        self.context = context
        self.gate = gate or SecretFilter()
        self._profiles = profiles
        self._replaced = replaced
        self.view: AgentView | None = None
        """What an agent sees of the store, where only that is shown."""

    def narrow(self, *, approved: bool = False) -> None:
        """Show from now on only what the context's agent may see (see `safety.agent_view`)."""
        from workbench.services.safety.agent_view import narrow

        self.view = narrow(self.context, self.safety, approved=approved)

    @cached_property
    def working_out(self) -> "SuggestionFinder":
        """What waits without being stored."""
        from workbench.services.review.finders import SuggestionFinder

        return SuggestionFinder(self, self.review)

    @cached_property
    def tuning(self) -> "Tuning":
        """Rankings under any profile."""
        from workbench.services.tuning.profiles import Profiles
        from workbench.services.tuning.tuning import Tuning

        return Tuning(self.context, self.retriever, Profiles(self._profiles))

    @cached_property
    def reflecting(self) -> "Reflecting":
        """Reflections, and what they cost."""
        from workbench.services.reflection.reflection import Reflecting

        after, before = self.index_file.follow, self._before_reflection
        return Reflecting(
            self.context, lambda: self.retriever, self.safety.masked, after=after, before=before
        )

    def _before_reflection(self, cancelled: Cancelled) -> None:
        if self.context.settings.still_true:
            self.still_true.before_reflection(cancelled)

    def difference(self, path: Path) -> "Difference":
        """Return what a file that changed on disk says otherwise than the store."""
        return self.importer.difference(path, self.folder_exporter)

    @cached_property
    def replaced(self) -> "Replaced":
        """The copies of files that were replaced."""
        from workbench.services.files.replaced import Replaced

        return Replaced(self._replaced)

    @cached_property
    def promotion(self) -> "Promotion":
        """The way from what is confirmed to playbooks, files that agents read, and skills."""
        from workbench.services.promotion.placements import Placing
        from workbench.services.promotion.promotion import Promotion

        return Promotion(self.context, lambda: self.playbooks, self.safety, Placing(self.library))

    @cached_property
    def copies(self) -> "Copies":
        """Where else stands what is corrected."""
        from workbench.services.promotion.copies import Copies
        from workbench.services.promotion.placements import Placing

        return Copies(self.context, lambda: self.playbooks, self.safety, Placing(self.library))

    @cached_property
    def transcripts(self) -> "Transcripts":
        """What sessions of agents teach, and how far they were read on this machine."""
        from workbench.services.agents.capture.transcripts import Transcripts

        return Transcripts(self.context, paths.captures_dir())

    @cached_property
    def patterns(self) -> "Patterns":
        """What agents learned to do."""
        from workbench.services.agents.patterns import Patterns

        return Patterns(
            self.context,
            self.gate,
            relatives=lambda text: self.retriever.episodes.pool().fits(text),
        )

    @cached_property
    def plans(self) -> "Plans":
        """Goals in steps, and what to do next."""
        from workbench.services.agents.plans import Plans

        return Plans(self.context, self.safety, lambda: (self.tuning, self.playbooks))

    def _as_it_was(self, rev: int) -> "Workbench":
        """Open this store as it was right after a revision."""
        context = self.context
        return open_workbench(
            self.library.folder, profiles=self._profiles, settings=context.settings, given=context.given,
            actor=context.actor, clock=context.clock, believed=True, at=rev, shared=self.library.shared,
        )  # fmt: skip

    @property
    def library(self) -> Library:
        """The store's tables, for reading."""
        return self.context.library

    def follow(self) -> None:
        """Take what changed in the store over into what questions are answered from; nothing is
        loaded for that.
        """
        if "retriever" in self.__dict__:
            self.retriever.follow()

    def keep_caches(self) -> None:
        """Keep of a large store what makes the next start fast, in the user's cache; nothing fails
        for it.

        Of the past nothing is kept: it would take the present's place.
        """
        if self.library.standpoint is not None:
            return
        if self.library.shared is not None and self.library.starts_slowly:
            with suppress(StoreProblem):
                self.library.save_checkpoint()  # the copy is this machine's own
        self.library.keep_index()
        if "retriever" in self.__dict__:
            self.retriever.keep()

    def close(self) -> None:
        """Write a checkpoint and let go of the store."""
        present = self.library.standpoint is None
        self.library.close()
        if "retriever" in self.__dict__:
            if present:
                self.retriever.keep()
            self.retriever.close()


def open_workbench(
    folder: Path,
    *,
    profiles: Path,
    replaced: Path | None = None,
    cache: Path | None = None,
    settings: Settings | None = None,
    given: frozenset[str] = frozenset(),
    actor: str = "human",
    clock: Clock = utc_now,
    heads: Path | None = None,
    believed: bool = False,
    documents: DocumentPlaces = NOWHERE,
    at: int | None = None,
    shared: "SharedLog | None" = None,
) -> Workbench:
    """Open (or create) the store in `folder`; with `at` as it was right after that revision, to be
    looked at only.

    `profiles` is where a person's own profiles lie, `replaced` where copies go of files that are
    replaced on a person's word, `cache` the user's cache folder, unless it is the usual one, and
    `heads` where this machine remembers what it stored (`None`: no memory). `believed`: a person
    said outside the store that it can be trusted. `documents` are where agents keep some on disk.
    Opening changes nothing; the copy of a team's store is brought up to date, by the log `shared`
    unless it is the usual one. Raises `StoreProblem`, and `UnknownRecord` for a revision that there is
    not.
    """
    gate = SecretFilter()
    own = place(cache or paths.cache_dir(), folder)
    if shared is None and paths.team_address(folder):
        from workbench.services.team.reach import log_of  # few stores are a team's

        shared = log_of(folder)
    library = Library(
        folder, clock, heads=None if shared else heads, gate=gate, believed=believed,
        cache=own, begin_cache=lambda: begin(own, folder), at=at, shared=shared,
    )  # fmt: skip
    if shared is not None:
        _forget_old_copy(folder, own)
    _take_note(library)
    known, verdicts, around = (
        settings or Settings(),
        Verdicts(),
        documents._replace(replaced=replaced),
    )
    context = Context(
        library,
        _clock_of(library, clock),
        known,
        own,
        library.actor_named(actor),
        given,
        verdicts,
        Origins(),
        around,
    )
    return Workbench(context, profiles, replaced, gate)


def _forget_old_copy(folder: Path, own: Path) -> None:
    """Remove what was computed of a copy that was made anew: it may hold what was erased."""
    if not (folder / BEGUN_ANEW).exists():
        return
    import shutil  # hardly ever does a copy begin anew

    with suppress(OSError):
        if own.exists():
            shutil.rmtree(own)
        (folder / BEGUN_ANEW).unlink()


def _clock_of(library: Library, clock: Clock) -> Clock:
    """Return the clock, or in the past one that stands still."""
    then = None if library.standpoint is None else library.standpoint.at
    return clock if then is None else lambda: then


def _take_note(library: Library) -> None:
    """Say what a person should know of a store that was just opened."""
    if library.standpoint is not None:
        return
    if library.standing.trusted and library.surroundings.notes():
        library.note(
            "A change of files was interrupted. `workbench doctor` shows it, `workbench doctor --finish` completes it."
        )
