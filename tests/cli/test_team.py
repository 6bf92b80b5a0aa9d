"""A team's store in a real database, through the command line: two people, each on a machine of
their own.
"""

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.builders.cutting import Way
from tests.builders.postgres import KEEPER, PASSWORD, Postgres, postgres, without_password
from tests.cli.commands import Command
from tests.cli.conftest import NOW, Cli, Result
from tests.cli.shared import KEY, left_in, memory
from workbench.config import paths, recent
from workbench.services.open import open_workbench
from workbench.services.team import reach
from workbench.store.entry import Level

Told = tuple[int, str, str]


class Person:
    """Somebody at a machine, who works with a team's store."""

    def __init__(
        self,
        cli: Cli,
        patch: pytest.MonkeyPatch,
        home: Path,
        address: str,
        password: str = PASSWORD,
    ) -> None:
        self.home, self.address, self._cli, self._patch = home, address, cli, patch
        self.password = password

    def bare(self, *args: str, typed: str = "") -> Result:
        """Run a command on this machine, in the project's folder."""
        self.sit_down()
        self._patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(typed.encode())))
        return self._cli.bare(*args)

    def sit_down(self) -> None:
        """Let whatever runs from now on run on this machine."""
        for kind in ("DATA", "CONFIG", "STATE", "CACHE"):
            self._patch.setenv(f"XDG_{kind}_HOME", str(self.home / kind.lower()))
        self._patch.setenv("PGPASSWORD", self.password)

    def __call__(self, *args: str, typed: str = "") -> Result:
        return self.bare("--store", self.address, *args, typed=typed)

    def ok(self, *args: str) -> str:
        """Run a command that has to succeed without a remark, and return what it printed."""
        result = self(*args)
        assert (result.code, result.err) == (0, "")
        return result.out

    def refused(self, *args: str) -> str:
        """Run a command that has to be refused; return what it said."""
        result = self(*args)
        assert (result.code, result.out) == (2, "")
        return result.err

    def json(self, *args: str) -> Any:
        return json.loads(self.ok(*args, "--json"))

    def texts(self) -> list[str]:
        """Return the texts of the memories, sorted."""
        return sorted(row["content"] for row in self.json("list"))

    def actors(self) -> list[str]:
        """Return who made the changes, the latest first."""
        return [row["actor"] for row in self.json("history")]

    def hook(self, name: str, **event: str) -> Result:
        """Tell what happens in a session of an agent."""
        doc = {"session_id": "s-1", "hook_event_name": name, "cwd": str(self._cli.cwd), **event}
        return self("capture", "claude-code", typed=json.dumps(doc))

    @property
    def copy(self) -> Path:
        """The folder of the copy on this machine."""
        self.sit_down()
        return paths.team_dir() / next(paths.team_dir().glob("*/team.json")).parent.name


Join = Callable[..., Person]


@pytest.fixture
def server() -> Postgres:
    return postgres()


@pytest.fixture
def store(server: Postgres) -> str:
    return server.new_store()


@pytest.fixture
def delivering(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The stores to which a process of its own would deliver; none is started."""
    folders: list[Path] = []
    monkeypatch.setattr(reach, "sync_later", folders.append)
    return folders


@pytest.fixture
def join(
    cli: Cli, server: Postgres, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Join:
    """Makes somebody a member of the store, at a machine of their own."""

    def join_store(role: str, level: Level = "writer", machine: str = "") -> Person:
        address = without_password(server.add(store, role, level))
        return Person(cli, monkeypatch, tmp_path / (machine or role), address)

    return join_store


@pytest.fixture
def way(server: Postgres) -> Iterator[Way]:
    with closing(Way(server)) as made:
        yield made


def address_of(server: Postgres, role: str, store: str) -> str:
    return without_password(server.url(role, store))


# Setting up


def test_an_owner_makes_a_store_and_lets_others_in(
    cli: Cli, server: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.make_role("bob")
    server.make_role("ann_agent")
    address = address_of(server, KEEPER, "made-here")
    ann = Person(cli, monkeypatch, tmp_path / "ann", address)
    bob = Person(cli, monkeypatch, tmp_path / "bob", address_of(server, "bob", "made-here"))

    assert json.loads(ann.bare("store", "init", address, "--json").out) == {"made": True}
    assert json.loads(ann.bare("store", "init", address, "--json").out) == {"made": False}
    assert bob("list").code == 2
    ann.ok("store", "members", "add", "bob", "--level", "reader")
    assert bob.texts() == []
    found = ann("store", "check", "--json")
    assert found.code == 1
    assert len(json.loads(found.out)["problems"]) == 1
    ann.ok("store", "members", "add", "ann_agent", "--agent")
    assert ann.json("store", "check")["problems"] == []
    assert sorted((m["role"], m["level"], m["is_agent"]) for m in ann.json("store", "members", "list")["members"]) == [
        ("ann_agent", "writer", True), ("bob", "reader", False), (KEEPER, "owner", False),
    ]  # fmt: skip
    assert [one["address"] for one in ann.json("store", "list")["stores"]] == [address]
    ann.ok("store", "members", "remove", "bob")
    assert bob("store", "sync").code == 2
    assert bob.refused("ingest", "is it there")


def test_the_demo_goes_to_a_team_and_comes_back_entry_by_entry(
    demo: Cli, join: Join, tmp_path: Path
) -> None:
    ann = join("ann", "owner")
    source, back = str(demo.store), str(tmp_path / "back")
    done = json.loads(ann.bare("store", "copy", source, ann.address, "--json").out)
    again = ann.bare("store", "copy", source, ann.address)
    assert (again.code, again.out) == (2, "")
    ann.bare("store", "copy", ann.address, back)

    def entries(folder: str) -> list[dict[str, Any]]:
        rows = map(json.loads, Path(folder, "journal.jsonl").read_bytes().splitlines())
        return [{k: row[k] for k in row.keys() - {"prev", "hash"}} for row in rows if row["rev"]]

    there, here = entries(source), entries(back)
    assert here[: len(there)] == there
    assert [one["changes"] for one in here[len(there) :]] == [[]]
    assert done["entries"] == len(there)
    for args in (
        ("list", "--json", "-n", "0"),
        ("book", "show", "--json"),
        ("review", "list", "--json"),
    ):
        back_out, source_out = (ann.bare("--store", folder, *args).out for folder in (back, source))
        assert back_out == source_out == ann(*args).out


def test_a_project_moves_to_its_team_and_a_clone_follows_once_somebody_connected(
    cli: Cli, join: Join, tmp_path: Path, server: Postgres, store: str
) -> None:
    subprocess.run(["git", "init", "-q"], cwd=cli.cwd, check=True)
    ann, bob = join("ann", "owner"), join("bob")
    ann.bare("init")
    ann.bare("ingest", "The shop uses pnpm")
    before = (cli.cwd / ".workbench/journal.jsonl").read_bytes()
    assert ann.bare("store", "move", ann.address).code == 0
    ann.bare("ingest", "Deploys need AUTH_SECRET")
    assert ann.texts() == ["Deploys need AUTH_SECRET", "The shop uses pnpm"]
    assert (cli.cwd / ".workbench/before-team/journal.jsonl").read_bytes() == before
    seen = subprocess.run(
        ["git", "status", "--short", "-uall"],
        cwd=cli.cwd,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert ".workbench/store.json" in seen
    assert not [name for name in seen if "before-team" in name or "journal" in name]
    assert "ann" not in (cli.cwd / ".workbench/store.json").read_text()

    assert bob.bare("list").code == 2
    assert "psql" not in bob.bare("list").err
    assert not paths.team_dir().exists()
    bob.ok("list")
    assert bob.bare("list").out == bob.ok("list")
    assert bob.bare("init").code == 2


def test_a_person_and_their_agents_follow_a_pointer_each_in_their_own_role(
    cli: Cli, join: Join, server: Postgres, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = join("ann", "owner")
    agent = without_password(server.add(store, "ann_agent", "writer", is_agent=True))
    for address in (agent, ann.address):
        ann.bare("--store", address, "list")
    pointer = cli.cwd / ".workbench/store.json"
    pointer.parent.mkdir()
    pointer.write_text(json.dumps({"store": ann.address.replace("ann@", "")}))
    ann.bare("ingest", "by a person")
    monkeypatch.setenv("CLAUDECODE", "1")
    ann.bare("ingest", "by an agent")
    monkeypatch.delenv("CLAUDECODE")
    assert [actor.partition("/")[0] for actor in ann.actors()] == ["agent:ann_agent", "cli:ann"]
    ann.bare("--store", agent, "hooks", "install", "--yes")
    assert agent in (cli.cwd / ".claude/settings.local.json").read_text()


def test_a_copy_that_was_removed_is_made_again_by_its_address_only(join: Join) -> None:
    ann = join("ann", "owner")
    ann.ok("ingest", "Deploys need AUTH_SECRET")
    copy = ann.copy
    shutil.rmtree(copy)
    assert ann.bare("--store", str(copy), "ingest", "somewhere else").code == 2
    assert not copy.exists()
    assert ann.texts() == ["Deploys need AUTH_SECRET"]


def test_the_recent_stores_name_a_teams_by_its_address(join: Join) -> None:
    ann = join("ann", "owner")
    ann("list")
    recent.remember(paths.state_dir(), ann.copy, 1, NOW)
    assert ann.address in ann("stores").out
    assert str(ann.copy) not in ann.bare("stores").out


def test_a_store_beside_a_pointer_is_named_and_keeps_its_entries(
    cli: Cli, join: Join, delivering: list[Path]
) -> None:
    ann = join("ann", "owner")
    ann.bare("init")
    ann.bare("ingest", "mine alone")
    ann.ok("ingest", "the team's")
    pointer = cli.cwd / ".workbench/store.json"
    pointer.write_text(json.dumps({"store": ann.address.replace("ann@", "")}))
    shown = ann.bare("list")
    assert "mine alone" not in shown.out
    assert str(pointer.parent) in shown.err
    assert str(pointer.parent) in ann.bare("append", "for whom is this").err
    assert "mine alone" in ann.bare("--store", ".workbench", "list").out


# Working together


def test_a_file_that_a_writer_spoilt_stops_no_copy(
    join: Join, server: Postgres, store: str, tmp_path: Path
) -> None:
    ann = join("ann", "owner")
    ann.ok("ingest", "Deploys need AUTH_SECRET in CI")
    with closing(server.log(store, "bob", "writer")) as log:
        log.put_blob(b"right")
        wrong = "select workbench.put_blob(%s, %s, 'wrong')"
        log.server.rows(wrong, (log.store, "0" * 40))
    back = str(tmp_path / "back")
    done = json.loads(ann.bare("store", "copy", ann.address, back, "--json").out)
    assert done["files"] == 1
    assert json.loads(ann.bare("--store", back, "list", "--json").out)


def test_two_people_see_each_others_changes_and_take_back_their_own(join: Join) -> None:
    ann, bob, cid = join("ann", "reviewer"), join("bob"), join("cid")
    ann.ok("ingest", "Deploys need AUTH_SECRET in CI")
    bob.ok("ingest", "The build takes nine minutes")
    both = ["Deploys need AUTH_SECRET in CI", "The build takes nine minutes"]
    assert ann.texts() == bob.texts() == both
    assert ann.actors() == ["cli:bob", "cli:ann"]
    ann.ok("undo")
    assert bob.texts() == both[1:]
    assert bob.actors() == ["cli:ann", "cli:bob", "cli:ann"]
    assert cid("undo").code == 2
    assert cid.texts() == both[1:]
    bob.ok("undo")
    assert bob("undo").code == 2
    assert ann.json("list") == []


def test_a_writer_adds_and_votes_and_a_reader_only_reads(join: Join) -> None:
    ann, bob, cid = join("ann", "reviewer"), join("bob"), join("cid", "reader")
    ann.ok("ingest", "Deploys need AUTH_SECRET in CI")
    (id,) = (row["id"] for row in ann.json("list"))
    assert "bob" in bob.refused("edit", id, "Deploys need nothing")
    assert "cid" in cid.refused("vote", id, "helpful")
    assert "cid" in cid.refused("ingest", "something else")
    bob.ok("vote", id, "helpful")
    assert cid.texts() == ["Deploys need AUTH_SECRET in CI"]
    ann.ok("edit", id, "Deploys need AUTH_SECRET everywhere")
    assert cid.texts() == ["Deploys need AUTH_SECRET everywhere"]


def test_what_an_owner_erases_is_in_no_file_of_another_machine_once_it_is_opened(
    join: Join, delivering: list[Path]
) -> None:
    ann, bob = join("ann", "owner"), join("bob")
    for text in ("Zebra42 is our name for the release", "Nothing to see"):
        ann.ok("ingest", text)
    (id,) = (row["id"] for row in ann.json("list") if "Zebra42" in row["content"])
    bob.ok("search", "Zebra42")
    assert left_in(bob.home, "Zebra42")
    assert bob("purge", id, "--yes-erase", id).code == 2
    ann.ok("purge", id, "--yes-erase", id)
    assert bob.texts() == ["Nothing to see"]
    assert [left_in(one.home, "Zebra42") for one in (ann, bob)] == [[], []]


def test_a_masked_secret_is_in_no_file_of_another_machine_once_it_is_opened(join: Join) -> None:
    ann, bob = join("ann", "owner"), join("bob")
    ann("list")
    bench = open_workbench(ann.copy, profiles=ann.home / "none", clock=lambda: NOW)
    bench.library.journal.gate = None
    with bench.library.transaction("human", "from an older version") as tx:
        tx.put(memory("mem-20260320-0000001", f"The key is {KEY}"))
    bench.close()
    bob("list")
    assert left_in(bob.home, KEY)
    ann("scan", "--mask")
    bob.ok("list")
    assert [left_in(one.home, KEY) for one in (ann, bob)] == [[], []]


# What hooks and `append` bring


def test_what_hooks_and_append_bring_is_delivered_once(join: Join, delivering: list[Path]) -> None:
    ann, bob = join("ann", "owner"), join("bob")
    bob("list")
    bob.ok("append", "Deploys need AUTH_SECRET", "--actor", "claude")
    assert bob.hook("SessionStart", source="startup").code == 0
    assert bob.hook("UserPromptSubmit", prompt="No, always use pnpm instead of npm").code == 0
    assert delivering
    assert ann.json("list") == []
    assert bob.json("store", "list")["stores"][0]["waiting"] > 1
    bob.sit_down()
    syncs = [Command(["--store", bob.address, "store", "sync"], bob.home) for _ in range(2)]
    assert [one.ended()[0] for one in syncs] == [0, 0]
    assert bob.json("store", "sync")["delivered"] == 0
    texts = ann.texts()
    assert len(texts) == len(set(texts)) == 2
    assert all(actor.startswith("agent:bob/") for actor in ann.actors())


def test_what_is_brought_before_there_is_a_copy_is_delivered(
    join: Join, delivering: list[Path]
) -> None:
    bob = join("bob")
    bob.ok("append", "Deploys need AUTH_SECRET")
    assert bob.json("store", "sync")["delivered"] == 1
    bob.ok("append", "The build takes nine minutes")
    shutil.rmtree(bob.copy)
    assert bob.json("store", "sync")["delivered"] == 1
    assert bob.texts() == ["Deploys need AUTH_SECRET", "The build takes nine minutes"]


def test_what_was_brought_is_stored_once_when_the_delivery_is_killed(
    join: Join, delivering: list[Path]
) -> None:
    bob = join("bob")
    bob("list")
    texts = [f"Fact number {number} of {number * 7919}" for number in range(8)]
    for text in texts:
        bob.ok("append", text)
    bob.sit_down()
    for patience in (0.15, 0.3, 0.45, 0.6):
        Command(["--store", bob.address, "store", "sync"], bob.home).ended(patience)
    bob.ok("store", "sync")
    assert bob.texts() == sorted(texts)


def test_what_is_brought_before_the_first_connection_is_delivered_too(
    join: Join, way: Way, store: str, delivering: list[Path]
) -> None:
    bob = join("bob")
    bob.address = without_password(way.url("bob", store))
    way.away = True
    bob.ok("append", "Deploys need AUTH_SECRET")
    assert bob.hook("UserPromptSubmit", prompt="No, always use pnpm instead of npm").code == 0
    assert bob.json("store", "list")["stores"][0]["waiting"] == 2
    way.away = False
    assert bob.json("store", "sync")["delivered"] == 2
    assert len(bob.texts()) == 2


def test_a_process_of_its_own_delivers(join: Join) -> None:
    bob = join("bob")
    bob("list")
    bob.ok("append", "Deploys need AUTH_SECRET")
    while bob.json("store", "list")["stores"][0]["waiting"]:
        pass
    assert bob.texts() == ["Deploys need AUTH_SECRET"]


def test_one_process_is_started_for_what_comes_before_it_begins(
    join: Join, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[object] = []
    bob = join("bob")
    bob("list")
    with monkeypatch.context() as patch:
        patch.setattr(subprocess, "Popen", lambda words, **_: started.append(words))
        for number in range(3):
            bob.ok("append", f"Fact number {number} of {number * 7919}")
    assert len(started) == 1
    assert bob.json("store", "sync")["delivered"] == 3
    with monkeypatch.context() as patch:
        patch.setattr(subprocess, "Popen", lambda words, **_: started.append(words))
        bob.ok("append", "The build takes nine minutes")
    assert len(started) == 2


def test_what_a_hook_brings_survives_a_power_cut(
    join: Join, delivering: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    bob = join("bob")
    bob("list")
    made_durable: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda file: made_durable.append(os.fstat(file).st_ino))
    bob.hook("UserPromptSubmit", prompt="No, always use pnpm instead of npm")
    (folder,) = bob.home.rglob("waiting")
    assert folder.stat().st_ino in made_durable


def test_a_reader_is_told_that_nothing_is_kept_until_they_may_write(
    join: Join, delivering: list[Path]
) -> None:
    ann, cid = join("ann", "owner"), join("cid", "reader")
    cid("list")
    assert "only read" in cid.refused("append", "Deploys need AUTH_SECRET")
    assert cid.hook("UserPromptSubmit", prompt="No, always use pnpm instead of npm").code == 0
    assert cid.json("store", "list")["stores"][0]["waiting"] == 0
    ann.ok("store", "members", "add", "cid")
    assert cid.json("store", "sync")["delivered"] == 0
    cid.ok("append", "Deploys need AUTH_SECRET")
    assert cid.json("store", "sync")["delivered"] == 1


def test_there_is_nothing_to_deliver_on_a_new_machine(join: Join) -> None:
    assert join("bob").json("store", "sync")["delivered"] == 0


# While the database is away


@pytest.fixture
def bob(join: Join, server: Postgres, way: Way, store: str, delivering: list[Path]) -> Person:
    """Somebody whose way to the database can be cut, with a memory there."""
    server.make_role("ann_agent")
    bob = join("bob", "owner")
    bob.address = without_password(way.url("bob", store))
    bob.ok("ingest", "Deploys need AUTH_SECRET in CI")
    return bob


def test_while_the_database_is_away_the_copy_is_read_and_changes_are_refused(
    bob: Person, way: Way
) -> None:
    listed = bob.ok("list")
    way.away = True
    shown = bob("list")
    assert (shown.code, shown.out) == (0, listed)
    assert shown.err.count("\n") == 1
    assert "AUTH_SECRET" in bob("search", "deploys").out
    for args in (
        ("ingest", "another"),
        ("undo",),
        ("compact",),
        ("store", "sync"),
        ("store", "check"),
    ):
        assert bob.refused(*args).count("\n") == 1
    way.away = False
    assert bob.ok("list") == listed


def test_hooks_answer_while_the_database_is_away_and_what_they_bring_is_delivered_later(
    bob: Person, way: Way
) -> None:
    way.away = True
    assert bob.hook("SessionStart", source="startup").code == 0
    assert bob.hook("UserPromptSubmit", prompt="No, always use pnpm instead of npm").code == 0
    assert bob("append", "The build takes nine minutes").code == 0
    assert bob("store", "sync").code == 2
    way.away = False
    assert bob.json("store", "sync")["delivered"] == 3
    assert len(bob.texts()) == 3


def test_the_doctor_says_how_the_store_is_reached_and_what_waits(bob: Person, way: Way) -> None:
    bob.ok("append", "The build takes nine minutes")
    team = bob.json("doctor")["team"]
    assert (team["role"], team["level"], team["waiting"], team["away"]) == ("bob", "owner", 1, "")
    assert len(team["problems"]) == 1
    bob.ok("store", "members", "add", "ann_agent", "--agent")
    assert bob.json("doctor")["team"]["problems"] == []
    way.cut()
    away = bob("doctor")
    assert away.code == 0
    assert "cannot be reached" in away.out
    assert "store sync" in away.out
    assert json.loads(bob("doctor", "--json").out)["team"]["server"] == ""


def test_a_prompt_is_answered_with_what_is_on_this_machine(bob: Person) -> None:
    config = bob.home / "config/memory-workbench/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[agents]\nrecall = true\n")
    bob.ok("list")
    shown = bob.hook("UserPromptSubmit", prompt="what do deploys need in CI?")
    assert "AUTH_SECRET" in shown.out
    assert "not connected" not in bob("capture", "status").out


def test_a_shell_prompt_and_a_brief_wait_for_no_connection(bob: Person, way: Way) -> None:
    bob.ok("list")
    shown = bob.ok("status"), bob.ok("capture", "brief")
    way.away = True
    assert (bob.ok("status"), bob.ok("capture", "brief")) == shown


# Bad input


def test_a_password_in_an_address_is_refused_and_kept_nowhere(
    demo: Cli, join: Join, tmp_path: Path
) -> None:
    ann = join("ann", "owner")
    head, tail = ann.address.split("ann@")
    with_password = f"{head}ann:Kept4Nobody@{tail}"
    for address in (with_password, f"{ann.address}&password=Kept4Nobody"):
        for args in (
            ("--store", address, "list"),
            ("store", "init", address),
            ("store", "copy", str(demo.store), address),
            ("store", "copy", address, str(tmp_path / "out")),
            ("store", "move", address),
        ):
            result = ann.bare(*args)
            assert (result.code, result.out) == (2, "")
            assert "Kept4Nobody" not in result.err
    assert left_in(tmp_path, "Kept4Nobody") == []


def test_bad_addresses_and_servers_are_told_in_a_sentence(
    cli: Cli, join: Join, server: Postgres, tmp_path: Path
) -> None:
    ann = join("ann", "owner")
    ann("list")
    bad = (
        "postgres:/x",
        "postgresql:x",
        "mysql://x/y",
        "postgresql://[x",
        "postgresql://ann@127.0.0.1:1/x?store=y",
        "postgresql://ann@no-such-host.invalid/x",
        ann.address.replace(server.database, "no_such_database"),
        address_of(server, "nobody-here", "x"),
        address_of(server, "ann", "no-such-store"),
        address_of(server, "ann", "no good name"),
        f"{ann.address}&sslmode=perhaps",
        f"{ann.address}&nonsense=1",
    )
    for address in bad:
        assert ann.bare("--store", address, "list").err.count("\n") == 1, address
        assert ann.bare("--store", address, "list").code == 2, address
    for address in bad[:6]:
        assert ann.bare("store", "init", address).code == 2, address
    assert len(ann.json("store", "list")["stores"]) == 1


def test_a_wrong_password_is_told_and_the_copy_can_be_read(join: Join, server: Postgres) -> None:
    eve = join("wb_eve", "owner")
    try:
        server.write_rule("local all wb_eve scram-sha-256")
    except OSError:
        pytest.skip("the server's rules cannot be changed from here")
    eve.ok("ingest", "Deploys need AUTH_SECRET")
    eve.password = "wrong"
    shown = eve("list")
    assert "AUTH_SECRET" in shown.out
    for said in (
        shown.err,
        eve.refused("ingest", "more"),
        eve.refused("store", "init", eve.address),
    ):
        assert "pgpass" in said
    shutil.rmtree(eve.copy)
    assert "pgpass" in eve.refused("list")


def test_a_damaged_note_of_whose_copy_it_is_is_written_anew(cli: Cli, join: Join) -> None:
    ann = join("ann", "owner")
    ann.ok("ingest", "Deploys need AUTH_SECRET")
    for damaged in (b"", b"{", b"[]", b'{"store": 5}', b'{"store": "postgresql://x/y"}'):
        (ann.copy / "team.json").write_bytes(damaged)
        assert ann.bare("store", "list").code == 0
        assert ann.texts() == ["Deploys need AUTH_SECRET"]


def test_a_damaged_pointer_is_told(cli: Cli, join: Join) -> None:
    ann = join("ann", "owner")
    pointer = cli.cwd / ".workbench/store.json"
    pointer.parent.mkdir()
    for damaged in (
        "",
        "{",
        "[]",
        '{"store": 5}',
        '{"store": "here"}',
        '{"store": "postgresql://a:b@c/d"}',
    ):
        pointer.write_text(damaged)
        result = ann.bare("list")
        assert (result.code, result.out) == (2, "")
        assert str(pointer) in result.err or "assword" in result.err


def test_a_cache_that_cannot_be_written_is_told(join: Join) -> None:
    ann = join("ann", "owner")
    ann.home.mkdir()
    (ann.home / "cache").write_text("a file")
    assert ann.refused("list").count("\n") == 1


def test_without_the_extra_it_is_said_what_to_install(
    join: Join, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = join("ann", "owner")
    ann.ok("ingest", "Deploys need AUTH_SECRET")
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert "memory-workbench[team]" in ann.refused("ingest", "more")
    assert "AUTH_SECRET" in ann("list").out
    shutil.rmtree(ann.copy)
    assert "memory-workbench[team]" in ann.refused("list")


def test_a_database_without_tables_is_told(
    cli: Cli, server: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"{server.database}_bare"
    server.admin.execute(f"create database {name} owner {KEEPER} template template0".encode())
    try:
        address = without_password(server.url(KEEPER, "x", name))
        ann = Person(cli, monkeypatch, tmp_path / "ann", address)
        assert "store init" in ann.refused("list")
    finally:
        server.admin.execute(f"drop database {name} with (force)".encode())


def test_a_memory_is_proposed_to_a_team_and_its_proposer_is_told(join: Join, cli: Cli) -> None:
    ann, bob = join("ann", "owner"), join("bob")
    ann.ok("status")
    bob.ok("status")
    own = ("--store", str(cli.cwd / "own"))
    bob.bare("init", *own)
    ids = []
    for text in ("Deploys need AUTH_SECRET in CI", f"The key is {KEY} today"):
        done = bob.bare(*own, "ingest", text, "--session", "s-7", "--json")
        ids.append(json.loads(done.out)["id"])
        bob.bare(*own, "vote", ids[-1], "helpful")
        assert bob.bare(*own, "review", "promote", ids[-1], "--to", "team").code == 0

    def states() -> list[tuple[str, str]]:
        rows = json.loads(bob.bare(*own, "store", "proposed", "--json").out)["proposed"]
        return [(row["state"], row["said"]) for row in rows]

    assert states() == [("waiting", ""), ("waiting", "")]
    assert bob.bare(*own, "review", "promote", ids[0], "--to", "team").code == 2
    listed = json.loads(ann("review", "list", "--json").out)
    rows = listed["proposals"] if isinstance(listed, dict) else listed
    waiting = [json.loads(ann("show", row["id"], "--json").out) for row in rows]
    assert sorted(one["content"] for one in waiting)[0] == "Deploys need AUTH_SECRET in CI"
    assert KEY not in str(waiting)
    assert {(row["actor"], tuple(row["flags"])) for row in rows} == {("bob", ())}
    assert {(one["session_id"], one.get("helpful_votes", 0)) for one in waiting} == {("s-7", 0)}
    kept, turned_down = (one["id"] for one in waiting)
    ann.ok("review", "approve", kept)
    ann.ok("review", "reject", turned_down, "--reason", "we use another way")
    told = dict(states())
    assert set(told) == {"approved", "rejected"}
    assert "we use another way" in told["rejected"]
    assert "ann" in told["approved"]


def test_nothing_is_promoted_while_the_team_is_away(bob: Person, way: Way, cli: Cli) -> None:
    own = ("--store", str(cli.cwd / "own"))
    bob.bare("init", *own)
    id = json.loads(bob.bare(*own, "ingest", "Deploys need a token", "--json").out)["id"]
    way.away = True
    assert bob.bare(*own, "review", "promote", id, "--to", "team").code == 2
    assert json.loads(bob.bare(*own, "show", id, "--json").out)["status"] == "signal"
    assert json.loads(bob.bare(*own, "store", "proposed", "--json").out)["proposed"] == []


def test_reviewers_let_other_tools_search_the_store(cli: Cli, join: Join) -> None:
    ann, bob = join("ann", "reviewer"), join("bob", "writer")
    for text in ("Deploys need AUTH_SECRET", "The tests take an hour"):
        ann("ingest", text)
    assert ann.json("store", "index") == {"items": 2, "vectors": 2, "revision": 2}
    bob("list")
    bob.refused("store", "index")
    cli("ingest", "A memory of one's own")
    assert cli("store", "index").code == 2


def test_an_agent_is_served_from_the_copy_while_the_database_is_away(bob: Person, way: Way) -> None:
    bob.ok("list")
    way.away = True
    served = bob("search", "deploys", "--for-agent", "claude")
    assert served.code == 0
    assert "AUTH_SECRET" in served.out


def test_a_purged_text_does_not_come_back_on_any_machine(join: Join) -> None:
    ann, bob = join("ann", "owner"), join("bob")
    id = json.loads(ann("ingest", "The launch is called Zebrafinch", "--json").out)["id"]
    bob("list")
    assert ann("purge", id, "--yes-erase", id).code == 0
    for one in (ann, bob):
        one("ingest", "The launch is called Zebrafinch")
        assert one.texts() == []


def test_a_copy_in_a_folder_of_ones_own_is_trusted(join: Join, tmp_path: Path) -> None:
    ann = join("ann", "owner")
    ann("ingest", "Deploys need AUTH_SECRET")
    back = str(tmp_path / "back")
    assert ann.bare("store", "copy", ann.address, back).code == 0
    assert json.loads(ann.bare("--store", back, "trust", "--json").out)["trusted"] is True


def test_a_hook_acts_as_the_agents_role_where_a_project_points_to_its_team(
    cli: Cli, join: Join
) -> None:
    ann, agent = join("ann", "owner"), join("ann_agent", machine="ann")
    ann.bare("init")
    assert ann.bare("store", "move", ann.address).code == 0
    ann.ok("store", "members", "add", "ann_agent", "--agent")
    agent("list")
    doc = {"session_id": "s-1", "hook_event_name": "UserPromptSubmit", "cwd": str(cli.cwd),
           "prompt": "No, always use pnpm instead of npm"}  # fmt: skip
    assert ann.bare("capture", "claude-code", typed=json.dumps(doc)).code == 0
    waiting = {one["address"]: one["waiting"] for one in ann.json("store", "list")["stores"]}
    assert waiting == {ann.address: 0, agent.address: 1}
