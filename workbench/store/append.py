"""Adding memories for hooks, which live for a tenth of a second: also in a store that nobody has trusted yet."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from workbench.core.document import from_doc, to_doc_over
from workbench.core.record import InvalidRecord, cannot_write
from workbench.core.reflection.trigger import ReflectionState, record_observation
from workbench.core.stream.memory import Memory, check_memory
from workbench.store.entry import Doc
from workbench.store.index.indexing import Indexing
from workbench.store.journal.engine import Clock, Gate, Journal, Options
from workbench.store.journal.state import Staged
from workbench.store.naming import memory_id, memory_number
from workbench.store.records import COUNTERS, table_of

_TABLE, _GAUGE = table_of(Memory), table_of(ReflectionState)
_RECENT = 10


class Appending:
    """Memories about to be added as one transaction. `recent` holds up to ten latest ones, newest last.

    `rev` is the number of the change that this becomes, `notices` say what a person should be told about the store.
    `label` says what is done better than what was said when it began, when it is set.
    """

    def __init__(self, journal: Journal, staged: Staged) -> None:
        self.recent = tuple(_readable(doc for _, doc in journal.state.latest(_TABLE, _RECENT)))
        self.rev = journal.rev + 1
        self.notices = tuple(dict.fromkeys(map(str, (*journal.notices, *journal.damage))))
        self.label = ""
        self._staged = staged

    def new_memory_id(self, at: datetime) -> str:
        """Take a fresh memory id; no two processes ever get the same one."""
        while True:
            name = memory_id(at, self._staged.allocate(_TABLE))
            if self._staged.doc_id_of(_TABLE, name) is None:
                return name

    def add(self, memory: Memory) -> None:
        """Add a memory with an id from `new_memory_id`; raises `InvalidRecord`."""
        check_memory(memory)
        number = memory_number(memory.id)
        if number is None or number >= self._staged.next_ids.get(_TABLE, 0):
            raise InvalidRecord(f"{memory.id} was not handed out here.", "Nothing was written.")
        self._staged.put(_TABLE, str(number), to_doc_over(memory, {}))

    def count(self, importance: float, at: datetime) -> None:
        """Let the reflection gauge count one observation."""
        place = self._staged.doc_id_of(_GAUGE, ReflectionState().id) or str(self._staged.allocate(_GAUGE))
        old = self._staged.get(_GAUGE, place) or {}
        gauge = from_doc(ReflectionState, old) if old else ReflectionState()
        self._staged.keys[_GAUGE, gauge.id] = place
        self._staged.put(_GAUGE, place, to_doc_over(record_observation(gauge, importance, at), old))


@contextmanager
def appending(
    folder: Path,
    actor: str,
    label: str,
    clock: Clock,
    heads: Path | None = None,
    gate: Gate | None = None,
    indexing: Indexing | None = None,
) -> Iterator[Appending]:
    """Open a transaction that can only add memories; it is committed when the block ends without an error.

    `heads` is where this machine remembers what it stored, `indexing` says how a large store is indexed. The
    transaction passes the `gate` first. Raises `StoreProblem`.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from error
    journal = Journal(folder, clock, COUNTERS, Options(checkpoint_every=0, adds=True, indexing=indexing), heads)
    journal.gate = gate
    with journal.transaction(actor, label) as staged:
        block = Appending(journal, staged)
        yield block
        staged.label = block.label


def _readable(docs: Iterator[Doc]) -> Iterator[Memory]:
    for doc in docs:
        try:
            yield from_doc(Memory, doc)
        except InvalidRecord:
            continue
