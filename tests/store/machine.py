"""A state machine of what a store may be asked for."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.builders.memory_log import MemoryLog, Shared
from tests.store.helpers import clock, docs, open_journal
from workbench.store import history
from workbench.store.entry import Doc
from workbench.store.journal.engine import Journal, Options

ids = st.integers(1, 4)


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from(["", "a", "ß\n", '"\\'])
    | st.sampled_from([0.5, 1.0]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["$", "x"]), inner, max_size=2)
    ),
    max_leaves=4,
)


documents = st.dictionaries(st.sampled_from(["id", "a", "b", "n"]), values, max_size=3)


Model = dict[str, Doc]


def is_mine(actor: str) -> bool:
    return actor in ("human", "human:ann")


def named(journal: Journal) -> str:
    return "human" if journal.shared is None else journal.shared.name("human")


class StoreMachine(RuleBasedStateMachine):
    """Two processes' journals over one folder, and the documents that should be in it."""

    @initialize(segment_bytes=st.sampled_from([600, 1 << 20]))
    def start(self, segment_bytes: int) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="store-model-"))
        self.segment_bytes = segment_bytes
        self.log = Shared()
        self.one, self.two = self._open("one"), self._open("two")
        self.model: Model = {}
        self.past: list[Model] = [{}]
        self.undone: list[tuple[history.Action, Model, Model]] = []
        self.done: list[tuple[Model, Model]] = []

    def _open(self, name: str) -> Journal:
        """Open the store as one of two processes."""
        return open_journal(self.folder / "s", segment_bytes=self.segment_bytes)

    def _commit(self, journal: Journal, change: Callable[[Model], None]) -> None:
        before = dict(self.model)
        change(self.model)
        with journal.transaction("human", "edit") as staged:
            for key in before.keys() | self.model.keys():
                if key in self.model:
                    staged.put("t", key, self.model[key])
                else:
                    staged.delete("t", key)
        if journal.rev == len(self.past):
            self.past.append(dict(self.model))
            self.done.append((before, dict(self.model)))
            self.undone.clear()

    @rule(second=st.booleans(), doc_id=ids, doc=documents)
    def put(self, second: bool, doc_id: int, doc: Doc) -> None:
        self._commit(
            self.two if second else self.one, lambda model: model.update({str(doc_id): doc})
        )

    @rule(second=st.booleans(), doc_id=ids)
    def remove(self, second: bool, doc_id: int) -> None:
        def change(model: Model) -> None:
            model.pop(str(doc_id), None)

        self._commit(self.two if second else self.one, change)

    @rule(second=st.booleans())
    def undo(self, second: bool) -> None:
        journal = self.two if second else self.one
        journal.refresh()
        action = history.Past(journal).undoable(is_mine)
        assert (action is None) == (not self.done)
        if action is not None:
            history.Past(journal).undo(action, named(journal))
            before, after = self.done.pop()
            self.undone.append((action, before, after))
            self.model = dict(before)
            self.past.append(dict(self.model))

    @rule()
    def redo(self) -> None:
        self.one.refresh()
        action = history.Past(self.one).redoable(is_mine)
        assert (action is None) == (not self.undone)
        if action is not None:
            history.Past(self.one).redo(action, named(self.one))
            _, before, after = self.undone.pop()
            self.done.append((before, after))
            self.model = dict(after)
            self.past.append(dict(self.model))

    @rule()
    def checkpoint(self) -> None:
        self.one.save_checkpoint()

    @rule()
    def reopen(self) -> None:
        self.two.close()
        self.one, self.two = self._open("one"), self._open("two")

    @rule(data=st.data())
    def look_back(self, data: st.DataObject) -> None:
        self.one.refresh()
        rev = data.draw(st.integers(0, self.one.rev))
        assert self.one.tables_at(rev).get("t", {}) == self.past[rev]

    @invariant()
    def both_hold_the_model(self) -> None:
        if hasattr(self, "one"):
            for journal in (self.one, self.two):
                journal.refresh()
                assert docs(journal) == self.model
                assert journal.rev == len(self.past) - 1
                assert not journal.damage

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)


class SharedMachine(StoreMachine):
    """The journals of two machines, each a copy of one log."""

    def _open(self, name: str) -> Journal:
        return Journal(
            self.folder / name,
            clock,
            frozenset(["n"]),
            Options(checkpoint_every=0),
            shared=MemoryLog(self.log, clock=clock),
        )


for machine in (StoreMachine, SharedMachine):
    machine.TestCase.settings = settings(
        max_examples=60,
        stateful_step_count=25,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
