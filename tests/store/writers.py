"""What the writer processes of the long proofs do; imported by them, so kept free of test
machinery.
"""

import os
import random
import time
from collections.abc import Callable
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

from tests.store import helpers
from tests.store.helpers import NOON, clock
from workbench.core.change import UndoConflict
from workbench.core.stream.memory import Memory
from workbench.store import history
from workbench.store.append import Appending, appending
from workbench.store.journal.codec import dumps
from workbench.store.journal.engine import Options
from workbench.store.journal.state import Tables
from workbench.store.library import Library
from workbench.store.maintenance import backup, purge

SMALL = Options(segment_bytes=6000, checkpoint_every=7)


def digest(tables: Tables) -> str:
    """Return a hash of all documents, whatever their order."""
    flat = sorted(
        (t, n, dumps(sorted(doc.items()))) for t, docs in tables.items() for n, doc in docs.items()
    )
    return blake2b(repr(flat).encode(), digest_size=8).hexdigest()


def pair(number: int, text: str) -> tuple[Memory, Memory]:
    """Two memories that are only ever written together."""
    return Memory(f"p{number}-a", text, NOON, NOON), Memory(f"p{number}-b", text, NOON, NOON)


class Writer:
    """Does one random thing after the other, says before what it will do and after what came of it."""

    def __init__(self, folder: Path, notes: Path, seed: int) -> None:
        self.folder = folder
        self.notes = os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.chance = random.Random(seed)
        self.library = Library(folder, clock, SMALL)
        self.step = 0

    def run(self) -> None:
        """Go on until killed."""
        tasks: list[Callable[[], None]] = [
            self.put, self.put, self.put, self.vote, self.delete, self.undo, self.redo, self.bulk, self.hook,
            self.checkpoint, self.compact, self.reopen, self.purge,
        ]  # fmt: skip
        while True:
            task = self.chance.choice(tasks)
            self.step += 1
            self.say(f"begin {task.__name__}")
            task()
            self.library.journal.refresh()
            self.say(f"done {self.library.journal.rev} {digest(self.library.journal.state.tables)}")

    def say(self, text: str) -> None:
        os.write(self.notes, text.encode() + b"\n")

    def put(self) -> None:
        with self.library.transaction("human", "put") as tx:
            for memory in pair(
                self.chance.randrange(12),
                f"text {self.chance.random()} " * self.chance.randrange(1, 30),
            ):
                tx.put(memory)

    def vote(self) -> None:
        known = self.library.memories.all()
        if known:
            name = self.chance.choice(known).id.rpartition("-")[0]
            with self.library.transaction("human", "vote") as tx:
                for memory in (
                    self.library.memories.find(f"{name}-a"),
                    self.library.memories.find(f"{name}-b"),
                ):
                    if memory is not None:
                        tx.put(replace(memory, helpful_votes=memory.helpful_votes + 1))

    def delete(self) -> None:
        with self.library.transaction("human", "delete") as tx:
            for memory in pair(self.chance.randrange(12), "gone"):
                tx.delete(memory)

    def bulk(self) -> None:
        for part in range(3):
            with self.library.transaction(
                "import:x", "import", group=f"g{self.library.journal.rev}", more=part < 2
            ) as tx:
                for memory in pair(20 + part, f"chunk {self.step}"):
                    tx.put(memory)

    def undo(self) -> None:
        action = history.Past(self.library.journal).undoable(lambda actor: actor == "human")
        if action is not None:
            try:
                history.Past(self.library.journal).undo(action, "human")
            except UndoConflict:
                return

    def redo(self) -> None:
        action = history.Past(self.library.journal).redoable(lambda actor: actor == "human")
        if action is not None:
            try:
                history.Past(self.library.journal).redo(action, "human")
            except UndoConflict:
                return

    def hook(self) -> None:
        def make(block: Appending) -> None:
            block.add(Memory(block.new_memory_id(NOON), f"seen by a hook {self.step}", NOON, NOON))

        helpers.append(self.folder, "agent:x", "observe", clock, make)

    def checkpoint(self) -> None:
        self.library.journal.save_checkpoint()

    def compact(self) -> None:
        backup.compact(self.library.journal)

    def reopen(self) -> None:
        self.library.close()
        self.library = Library(self.folder, clock, SMALL)

    def purge(self) -> None:
        known = [m.id for m in self.library.memories.all() if m.id.startswith("p")]
        if known and self.step % 3 == 0:
            name = self.chance.choice(known).rpartition("-")[0]
            both = [
                ("memories", f"{name}-{half}")
                for half in "ab"
                if f"{name}-{half}" in self.library.memories
            ]
            purge.purge(self.library.journal, both, "human")


def write_until_killed(folder: Path, notes: Path, seed: int) -> None:
    """Open a store and work in it without end."""
    Writer(folder, notes, seed).run()


def add_many(folder: Path, number: int, times: int) -> None:
    """Commit `times` new memories, as one of several processes."""
    library = Library(folder, clock, Options(segment_bytes=200_000, checkpoint_every=500))
    for step in range(times):
        if step % 5 == 4:
            helpers.append(
                folder, f"agent:{number}", f"{number}-{step}", clock, _adding(f"{number}-{step}")
            )
            continue
        with library.transaction(f"agent:{number}", f"{number}-{step}") as tx:
            tx.put(Memory(tx.new_memory_id(NOON), f"{number}-{step}", NOON, NOON))
    library.close()


def _adding(content: str) -> Callable[[Appending], None]:
    def make(block: Appending) -> None:
        block.add(Memory(block.new_memory_id(NOON), content, NOON, NOON))

    return make


def append_until(ends: Path, folder: Path, heads: Path) -> None:
    """Append one memory after the other, as hooks do, until there is a file `ends`."""
    while not ends.exists():
        with appending(folder, "agent:x", "see", clock, heads) as block:
            block.add(Memory(block.new_memory_id(NOON), "seen", NOON, NOON))
        time.sleep(0.05)
