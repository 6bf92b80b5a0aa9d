"""Opens a store and hands out its areas: the one place where the bench is put together."""

from dataclasses import dataclass
from pathlib import Path

from workbench.bench.context import Clock, Context
from workbench.bench.exporting import Exporter
from workbench.bench.history import History
from workbench.bench.importing import Importer
from workbench.bench.ingest import Ingest
from workbench.bench.overview import Overview
from workbench.bench.playbook import Playbooks
from workbench.bench.profiles import Profiles
from workbench.bench.retriever import Retriever
from workbench.bench.review import Review
from workbench.bench.stream import Stream
from workbench.bench.tuning import Tuning
from workbench.config import Settings
from workbench.store.journal import utc_now
from workbench.store.library import Library


@dataclass(frozen=True, slots=True)
class Workbench:
    """An open store with everything a person or an agent can do to it."""

    context: Context
    retriever: Retriever
    stream: Stream
    review: Review
    playbooks: Playbooks
    tuning: Tuning
    ingest: Ingest
    importer: Importer
    exporter: Exporter
    history: History
    overview: Overview

    @property
    def library(self) -> Library:
        """The store's tables, for reading."""
        return self.context.library

    def close(self) -> None:
        """Write a checkpoint and let go of the store."""
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

    Raises `StoreProblem`.
    """
    context = Context(Library(folder, clock), clock, settings or Settings(), actor, given)
    retriever = Retriever(context)
    review = Review(context, retriever)
    playbooks = Playbooks(context)
    return Workbench(
        context=context,
        retriever=retriever,
        stream=Stream(context),
        review=review,
        playbooks=playbooks,
        tuning=Tuning(context, retriever, Profiles(profiles)),
        ingest=Ingest(context, retriever),
        importer=Importer(context),
        exporter=Exporter(context, playbooks),
        history=History(context),
        overview=Overview(context, review),
    )
