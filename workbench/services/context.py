"""What every area of the bench works with."""

import dataclasses
import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakMethod

from workbench.config.loading import Settings
from workbench.core.agents.actors import require_person, stands_by
from workbench.core.document import from_doc, to_doc
from workbench.core.record import InvalidRecord
from workbench.services.safety.verdicts import Origins, Verdicts
from workbench.store.library import Library, Touched, Tx
from workbench.store.records import kind_in


class DocumentPlaces(NamedTuple):
    """The folders around documents; `None` where there is none.

    `seen` is where this machine remembers what a person looked at, outside every store; without
    one, all is trusted. `replaced` keeps the bytes of files that are edited. Below `sessions`
    agents keep their external memory, by the folder they work in; `cwd` is that folder here.
    """

    seen: Path | None = None
    replaced: Path | None = None
    sessions: Path | None = None
    cwd: Path | None = None


NOWHERE = DocumentPlaces()


def encoded(folder: Path) -> str:
    """Return the name of a working directory's folder of sessions: `--home-me-project--` (source
    002, section 3.1).
    """
    name = str(folder).lstrip("/\\")
    for mark in "/\\:":
        name = name.replace(mark, "-")
    return f"--{name}--"


if TYPE_CHECKING:
    from workbench.core.change import Change
    from workbench.core.stream.memory import Votable
    from workbench.core.tuning.profile import ProfileInUse
    from workbench.store.entry import Kind

__all__ = ["PERSON", "Clock", "Context", "Service", "Touched", "apply_changes", "is_person"]

Clock = Callable[[], datetime]

PROFILE = "WORKBENCH_PROFILE"
"""The variable that names the profile to rank with."""

PERSON = "human"
"""The actor of the app, and the name that a person's votes go by."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Context:
    """An open store, the clock, the settings, and who acts (`human`, `cli`, `agent:NAME`, …; in a
    store of a team with the member, as `human:ann` and `agent:ann_agent/NAME`).

    `given` names the settings that the person really set (`config.Loaded.given`); `verdicts` knows
    what texts hold that should not travel. `caches` is the folder of what is computed from this
    store's texts (see `bench.caches`), `origins` knows where its texts come from, `documents` says
    where those lie that agents keep on disk.
    """

    library: Library
    clock: Clock
    settings: Settings
    caches: Path
    actor: str = "human"
    given: frozenset[str] = frozenset()
    verdicts: Verdicts = dataclasses.field(default_factory=Verdicts)
    origins: Origins = dataclasses.field(default_factory=Origins)
    documents: DocumentPlaces = NOWHERE

    def now(self) -> datetime:
        """Return the present moment."""
        return self.clock()

    @property
    def profile(self) -> "ProfileInUse":
        """Which profile ranks: the environment's, else the store's, once it is trusted, else that
        of the settings.
        """
        from workbench.core.tuning.profile import ProfileInUse, StoreSetting

        if named := os.environ.get(PROFILE, "").strip():
            return ProfileInUse(named, "environment")
        setting = self.library.table(StoreSetting).find("profile")
        if setting is not None and self.library.standing.trusted:
            return ProfileInUse(setting.value, "store", setting.text)
        name = self.settings.profile
        chosen = "profile" in self.given or name != type(self.settings)().profile
        return ProfileInUse(name, "config.toml" if chosen else "default")

    def transaction(
        self,
        label: str,
        *,
        by_person: str = "",
        group: str = "",
        part: int = 1,
        kind: "Kind" = "edit",
        more: bool = False,
        uid: str = "",
    ) -> AbstractContextManager[Tx]:
        """Open a transaction of who acts (see `Library.transaction`).

        `by_person` is what an agent cannot do; raises `WorkbenchError` for one then.
        """
        if by_person:
            require_person(self.actor, by_person)
        return self.library.transaction(
            self.actor, label, group=group, part=part, kind=kind, more=more, uid=uid
        )

    @property
    def is_agent(self) -> bool:
        return self.actor.startswith("agent:")

    @property
    def voter(self) -> str:
        """Who votes: a person has one vote, by whatever door it comes in; an agent has its own."""
        return self.library.actor_named(PERSON if is_person(self.actor) else self.actor)

    def is_own(self, actor: str) -> bool:
        """Tell whether what an actor did is the doing of who acts here. In a store of a team that
        is one member, by whatever door they came in.
        """
        if not stands_by(self.actor):
            return actor == self.actor
        member = self.actor.partition(":")[2] if self.library.shared else ""
        return is_person(actor) and member in ("", actor.partition(":")[2])

    def live_vote(self, table: "Votable", key: str) -> str:
        """Return the live vote of who acts on a record, or an empty text."""
        from workbench.core.stream.memory import vote_id

        vote = self.library.votes.find(vote_id(table, key, self.voter))
        return vote.verdict if vote else ""


class Changed:
    """The records of some tables that changed since they were last taken.

    They are noted on whichever thread changes them, which waits for nobody who reads.
    """

    def __init__(self, library: Library, *tables: str) -> None:
        self._tables = tables
        self._places: set[tuple[str, str]] = set()
        self._lock = threading.Lock()
        # One that nothing holds any more, such as of a model that was tried, is let go.
        noting = WeakMethod(self._note)
        library.listen(lambda touched: note(touched) if (note := noting()) else None)

    def __bool__(self) -> bool:
        return bool(self._places)

    def take(self) -> set[tuple[str, str]]:
        """Return table and key of each, which is not returned again."""
        with self._lock:
            taken, self._places = self._places, set()
        return taken

    def _note(self, touched: Touched) -> None:
        with self._lock:
            self._places |= {place for place in touched.keys if place[0] in self._tables}


class Service:
    """What a person or an agent can do in an open store."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._library = context.library


def is_person(actor: str) -> bool:
    """Tell whether an actor is the person at this machine, by whatever door they came in.

    An import, a reflection and a curator's operations are the person's doing: their undo takes them
    back.
    """
    return actor.partition(":")[0] in ("human", "cli", "import", "reflector", "curator", "tinydb")


def apply_changes(tx: Tx, library: Library, changes: "tuple[Change, ...]") -> None:
    """Write a proposal's changes; raises `InvalidRecord` when a record is no longer as the change
    expects it.
    """
    for change in changes:
        kind = kind_in(change.table)
        record = library.table(kind).find(change.id)
        doc: dict[str, object] = {} if record is None else to_doc(record)
        for name, field in change.fields.items():
            if doc.get(name) != field.before:
                message = f"{change.id} has changed since this was proposed ({name})."
                raise InvalidRecord(message, "Nothing was written.")
            if field.after is None:
                doc.pop(name, None)
            else:
                doc[name] = field.after
        if change.op == "delete":
            tx.delete(record)
        else:
            tx.put(from_doc(kind, doc))
