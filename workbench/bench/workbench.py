"""Opens a store and hands out its areas: the one place where the bench is put together.

An area is made, and its modules imported, when it is first asked for: what the first screen does
not need does not make it wait.
"""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.bench.context import Clock, Context
from workbench.bench.history import History
from workbench.bench.overview import Overview
from workbench.bench.review import Review
from workbench.bench.stream import Stream
from workbench.config import Settings
from workbench.store.journal import utc_now
from workbench.store.library import Library

if TYPE_CHECKING:
    from workbench.bench.bookrefine import BookRefiner
    from workbench.bench.bookrules import BookRules
    from workbench.bench.bookwording import BookWording
    from workbench.bench.care import Care
    from workbench.bench.curating import Curating
    from workbench.bench.curation_asking import CurationAsking
    from workbench.bench.deduplication import Deduplication
    from workbench.bench.erasing import Eraser
    from workbench.bench.evaluation import Evaluator
    from workbench.bench.exporting import Exporter
    from workbench.bench.impact import ImpactPreview
    from workbench.bench.importing import Importer
    from workbench.bench.ingest import Ingest
    from workbench.bench.judging import Judging
    from workbench.bench.playbook import Playbooks
    from workbench.bench.promotion import Promotion
    from workbench.bench.refining import Refining
    from workbench.bench.reflection import Reflecting
    from workbench.bench.retriever import Retriever
    from workbench.bench.safety import Safety
    from workbench.bench.tuning import Tuning
    from workbench.bench.upkeep import Upkeep


class Workbench:
    """An open store with everything a person or an agent can do to it.

    `profiles` is the folder of a person's own retrieval profiles.
    """

    def __init__(self, context: Context, profiles: Path) -> None:
        self.context = context
        self._profiles = profiles
        self.stream = Stream(context)
        self.review = Review(context, lambda: self.retriever)
        self.history = History(context)
        self.overview = Overview(context, self.review)

    @cached_property
    def retriever(self) -> "Retriever":
        """The ranking and its model; importing the numeric libraries is what makes it late."""
        from workbench.bench.retriever import Retriever

        return Retriever(self.context)

    @cached_property
    def playbooks(self) -> "Playbooks":
        """Bullets and sections."""
        from workbench.bench.playbook import Playbooks

        return Playbooks(self.context)

    @cached_property
    def refiner(self) -> "BookRefiner":
        """Duplicates in a playbook."""
        from workbench.bench.bookrefine import BookRefiner

        return BookRefiner(self.context, self.playbooks, lambda: self.retriever)

    @cached_property
    def curating(self) -> "Curating":
        """What a Curator or a Reflector suggests for a playbook."""
        from workbench.bench.curating import Curating

        return Curating(self.context, self.playbooks)

    @cached_property
    def curation(self) -> "CurationAsking":
        """What Claude suggests for a playbook, asked as Curator and Reflector."""
        from workbench.bench.curation_asking import CurationAsking

        return CurationAsking(self.context, self.playbooks, self.curating, self.safety.masked)

    @cached_property
    def wording(self) -> "BookWording":
        """One text for several bullets, by Claude."""
        from workbench.bench.bookwording import BookWording

        return BookWording(self.context, self.safety.masked)

    @cached_property
    def rules(self) -> "BookRules":
        """Deprecating bullets, and turning them into warnings."""
        from workbench.bench.bookrules import BookRules

        return BookRules(self.context, self.playbooks)

    @cached_property
    def tuning(self) -> "Tuning":
        """Rankings under any profile."""
        from workbench.bench.profiles import Profiles
        from workbench.bench.tuning import Tuning

        return Tuning(self.context, self.retriever, Profiles(self._profiles))

    @cached_property
    def evaluator(self) -> "Evaluator":
        """Metrics, verdicts and auto-tune over query sets."""
        from workbench.bench.evaluation import Evaluator

        return Evaluator(self.context, self.retriever, self.tuning.profiles)

    @cached_property
    def refining(self) -> "Refining":
        """Other words for a candidate, by Claude."""
        from workbench.bench.refining import Refining

        return Refining(self.context)

    @cached_property
    def impact(self) -> "ImpactPreview":
        """What approving would do to the saved queries."""
        from workbench.bench.impact import ImpactPreview

        return ImpactPreview(self.context, self.review, self.retriever, self.tuning.profiles)

    @cached_property
    def judging(self) -> "Judging":
        """Graded judgments of saved queries."""
        from workbench.bench.judging import Judging

        return Judging(self.context)

    @cached_property
    def deduplication(self) -> "Deduplication":
        """Groups of memories that say the same."""
        from workbench.bench.deduplication import Deduplication

        return Deduplication(self.context, lambda: self.retriever)

    @cached_property
    def upkeep(self) -> "Upkeep":
        """What the lifecycle suggests."""
        from workbench.bench.upkeep import Upkeep

        return Upkeep(self.context, lambda: self.retriever)

    @cached_property
    def ingest(self) -> "Ingest":
        """The way in for single observations."""
        from workbench.bench.ingest import Ingest

        return Ingest(self.context, self.retriever)

    @cached_property
    def reflecting(self) -> "Reflecting":
        """Reflections, and what they cost."""
        from workbench.bench.reflection import Reflecting

        return Reflecting(self.context, lambda: self.retriever, self.safety.masked)

    @cached_property
    def importer(self) -> "Importer":
        """The way in for files."""
        from workbench.bench.importing import Importer

        return Importer(self.context)

    @cached_property
    def exporter(self) -> "Exporter":
        """The way out to files."""
        from workbench.bench.exporting import Exporter

        return Exporter(self.context, self.playbooks)

    @cached_property
    def safety(self) -> "Safety":
        """What the texts hold that should not travel."""
        from workbench.bench.safety import Safety

        return Safety(self.context)

    @cached_property
    def promotion(self) -> "Promotion":
        """The way from what is confirmed to playbooks, files that agents read, and skills."""
        from workbench.bench.placing import Placing
        from workbench.bench.promotion import Promotion

        return Promotion(self.context, lambda: self.playbooks, self.safety, Placing(self.library))

    @cached_property
    def care(self) -> "Care":
        """What is wrong with the store, and what to do about it."""
        from workbench.bench.care import Care

        return Care(self.context)

    @cached_property
    def eraser(self) -> "Eraser":
        """Erasing for good."""
        from workbench.bench.erasing import Eraser

        return Eraser(self.context, self.history)

    @property
    def library(self) -> Library:
        """The store's tables, for reading."""
        return self.context.library

    def close(self) -> None:
        """Write a checkpoint and let go of the store."""
        self.retriever.close()
        self.library.close()


def open_workbench(
    folder: Path,
    *,
    profiles: Path,
    settings: Settings | None = None,
    given: frozenset[str] = frozenset(),
    actor: str = "human",
    clock: Clock = utc_now,
) -> Workbench:
    """Open (or create) the store in `folder`; `profiles` is where a person's own profiles lie.

    Files that a broken promotion left half changed are brought to what the store says. Raises `StoreProblem`.
    """
    library = Library(folder, clock)
    if any(folder.glob("placing-*.json")):
        from workbench.bench.placing import settle

        settle(library)
    return Workbench(Context(library, clock, settings or Settings(), actor, given), profiles)
