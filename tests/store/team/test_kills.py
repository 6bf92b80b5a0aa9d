"""Clients and servers that are killed while a team writes to its store."""

import multiprocessing
import os
import random
import time
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from tests.builders.postgres import Killable, Postgres, postgres
from tests.store.team.clients import AT, noted, work
from workbench.core.stream.memory import Memory
from workbench.store.journal.codec import hash_of
from workbench.store.journal.segments import NAME
from workbench.store.library import Library
from workbench.store.log import line_of
from workbench.store.team.log import connect

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("WORKBENCH_TEAM_KILLS", "40"))
"""How often a client is killed; the server is an eighth as often."""

MEMBERS = ("ann", "bob", "cid", "dan")


class Team:
    """Four clients in processes of their own, who share a store."""

    def __init__(self, server: Postgres, folder: Path) -> None:
        self.folder = folder
        store = server.new_store()
        self.urls = {name: server.add(store, name, "writer") for name in MEMBERS}
        self.log = server.log(store, "eve")
        self.stop = folder / "stop"
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["tests.store.team.clients"])
        library = Library(folder / "eve", shared=self.log)
        with library.transaction("human", "first") as tx:
            tx.put(Memory("first", "The one that is voted for.", AT, AT))
        library.close()
        self.running = {name: self.start(name) for name in MEMBERS}

    def start(self, name: str) -> BaseProcess:
        process = self._context.Process(
            target=work, args=(self.folder / name, self.urls[name], self.stop), daemon=True
        )
        process.start()
        return process

    def kill(self, name: str) -> None:
        """Kill a client and start it again."""
        process = self.running[name]
        process.kill()
        process.join()
        self.running[name] = self.start(name)

    def end(self) -> None:
        """Let all clients settle what they have begun, and end."""
        self.stop.touch()
        for process in self.running.values():
            process.join()
            assert process.exitcode == 0

    def check(self) -> None:
        """Look whether each change is there once, and the copies are the same."""
        entries = list(self.log.read(0))
        lines = [self.log.header]
        prev = hash_of(self.log.header[:-1])
        for entry in entries:
            lines.append(line_of(entry, prev))
            prev = entry.hash
        uids = [entry.uid for entry in entries]
        assert len(set(uids)) == len(uids)
        assert [entry.rev for entry in entries] == list(range(1, len(entries) + 1))
        begun: dict[str, str] = {}
        for name in MEMBERS:
            mine, done = noted(self.folder / name)
            assert mine.keys() == done
            begun |= mine
        assert set(uids[1:]) == begun.keys()
        kinds = [*begun.values()]
        for name in MEMBERS:
            library = Library(self.folder / name, shared=connect(self.urls[name]))
            assert (library.folder / NAME).read_bytes() == b"".join(lines)
            assert library.memories.get("first").helpful_votes == kinds.count("vote")
            assert len(library.memories) == 1 + kinds.count("add")
            library.close()


def test_killed_clients_lose_nothing_and_do_nothing_twice(tmp_path: Path) -> None:
    team, chance = Team(postgres(), tmp_path), random.Random()
    for _ in range(KILLS):
        time.sleep(chance.uniform(0, 0.3))
        team.kill(chance.choice(MEMBERS))
    team.end()
    team.check()


@pytest.mark.skipif("WORKBENCH_TEST_POSTGRES" in os.environ, reason="kills the server")
def test_a_killed_server_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    server, chance = Killable(), random.Random()
    team = Team(server, tmp_path)
    for _ in range(KILLS // 8):
        time.sleep(chance.uniform(0.2, 1))
        server.kill()
        time.sleep(chance.uniform(0, 0.3))
        server.start()
    team.end()
    team.check()
    server.drop()
