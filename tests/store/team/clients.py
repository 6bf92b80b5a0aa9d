"""What the processes do that are killed while they write to a team's store; imported by them, so
kept free of test machinery.
"""

import os
import random
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from workbench.core.record import StoreProblem
from workbench.core.stream.memory import Memory
from workbench.store.entry import new_uid
from workbench.store.library import Library
from workbench.store.team.log import connect

AT = datetime(2026, 11, 21, 12, tzinfo=UTC)


class Client:
    """Votes for a memory or adds one, in a change with a name. Each is noted before it is begun and
    when it is acknowledged; one of which only the first is there is said once more.
    """

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.library = Library(folder, shared=connect(url))
        self._notes = os.open(notes_of(folder), os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def run(self, until: Path) -> None:
        """Go on until a file is there, or this is killed."""
        chance = random.Random(os.getpid())
        while not until.exists():
            self.settle()
            kind = chance.choice(("vote", "vote", "add"))
            self._do(new_uid(), kind)
            if chance.random() < 0.1:
                self.library.refresh()
        self.settle()

    def settle(self) -> None:
        """Say once more what was begun and not acknowledged, until the store answers."""
        begun, done = noted(self.folder)
        for uid in begun.keys() - done:
            for _ in range(1_000):
                if self._do(uid, begun[uid], again=True):
                    break
                time.sleep(0.05)
            else:
                raise AssertionError(f"{uid} was never answered")

    def _do(self, uid: str, kind: str, *, again: bool = False) -> bool:
        if not again:
            self._note(f"begun {uid} {kind}")
        try:
            with self.library.transaction("human", kind, uid=uid) as tx:
                if kind == "add":
                    tx.put(Memory(tx.new_memory_id(AT), "The deploy failed.", AT, AT))
                else:
                    first = self.library.memories.get("first")
                    tx.put(replace(first, helpful_votes=first.helpful_votes + 1))
        except StoreProblem:
            return False
        self._note(f"done {uid}")
        return True

    def _note(self, text: str) -> None:
        os.write(self._notes, f"{text}\n".encode())


def notes_of(folder: Path) -> Path:
    return folder.with_suffix(".notes")


def noted(folder: Path) -> tuple[dict[str, str], set[str]]:
    """Return what a client began, with its kind, and what of that was acknowledged."""
    lines = [line.split() for line in notes_of(folder).read_text().splitlines()]
    begun = {words[1]: words[2] for words in lines if words[0] == "begun"}
    return begun, {words[1] for words in lines if words[0] == "done"}


def work(folder: Path, url: str, until: Path) -> None:
    """Be a client, also while the server is started again."""
    while True:
        try:
            client = Client(folder, url)
            break
        except StoreProblem:
            time.sleep(0.05)
    client.run(until)
    client.library.close()
