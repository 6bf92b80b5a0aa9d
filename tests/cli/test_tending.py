"""`workbench doctor`, `compact`, `backup`, `restore` and `purge`: what a store is found to be, what is left of
what was killed, and that no byte says what was erased.
"""

import gzip
import json
import sqlite3
import sys
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest

from tests.cli.commands import Command
from tests.cli.conftest import NOW, Cli, files_of
from tests.cli.shared import KEY, left_in, memory, put, stored
from tests.demo import MEMORIES
from tests.safety.fresh import fresh
from tests.store.helpers import killed_after
from workbench.config import drafts, paths
from workbench.config.paths import state_dir
from workbench.services import caches
from workbench.services.files.replaced import Replaced
from workbench.store.library import Library


def test_a_read_index_that_differs_is_made_anew_and_said(cli: Cli) -> None:
    library = Library(cli.store, lambda: NOW, heads=paths.heads_dir())
    with library.transaction("human", "many") as tx:
        for number in range(400):
            tx.put(memory(f"m{number}", f"{number} " + "word " * 800))
    library.close()
    assert "the read index" not in cli.ok("doctor")
    (index,) = paths.cache_dir().rglob("index.sqlite")
    with sqlite3.connect(index) as connection:
        connection.execute("UPDATE docs SET key = 'nobody' WHERE key IN ('m3', 'm4')")
    connection.close()
    said = "the read index differed from the store in 2 records, and was rebuilt"
    assert said in cli.ok("doctor")
    assert cli.json("show", "m3")["id"] == "m3"
    found = cli.json("doctor")
    assert found["clean"] is True
    assert found["index_made_anew"] is None


def spoil(store: Path, line: int) -> int:
    """Change one byte in a line of the journal and return where the line begins."""
    journal = store / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    offset = sum(map(len, lines[: line - 1]))
    text = bytearray(journal.read_bytes())
    text[offset + 20] ^= 1
    journal.write_bytes(bytes(text))
    return offset


def test_damage_is_named_by_file_line_and_byte_and_the_rest_is_recovered(demo: Cli) -> None:
    assert "Nothing is damaged" in demo.ok("doctor", "--recover")
    votes = len(Library(demo.store).votes.all())
    for name in ("shr-00001", "shr-00002"):
        demo.ok("vote", name, "helpful")
    lines = (demo.store / "journal.jsonl").read_bytes().count(b"\n")
    offset = spoil(demo.store, lines - 1)
    before = files_of(demo.store)
    result = demo("doctor")
    assert result.code == 1
    assert "workbench doctor --recover" in result.out
    assert f"journal.jsonl:{lines - 1}: byte {offset}: its checksum" in result.out
    result = demo("doctor", "--recover")
    assert result.code == 0
    assert files_of(demo.store) == before
    (saved,) = demo.store.parent.glob("store.recovered-*")
    assert str(saved) in result.out
    stats = json.loads(demo.bare("--store", str(saved), "stats", "--json").out)
    assert stats["memories"] == MEMORIES
    assert stats["votes"] == votes + 1


def test_what_was_not_finished_is_named_with_the_way_back(demo: Cli) -> None:
    library = Library(demo.store, lambda: NOW)
    with library.transaction(
        "import:notes.jsonl", "import notes.jsonl", group="import-abc", more=True
    ) as tx:
        tx.put(library.memories.all()[0].__class__("left", "left behind", NOW, NOW))
    result = demo("doctor")
    assert result.code == 1
    assert "unfinished  import notes.jsonl" in result.out
    assert "`workbench undo --group import-abc`" in result.out
    assert demo.ok("undo", "--group", "import-abc") == "Undone: import notes.jsonl.\n"
    demo.refused("show", "left")
    assert demo("doctor").code == 0


@pytest.mark.parametrize(
    "lead", ["Long before anything differs there are words that stay. " * 3, "x" * 150]
)
def test_the_history_shows_a_long_text_from_where_it_differs(cli: Cli, lead: str) -> None:
    for name in ("old", "new"):
        stored(cli, memory("m1", f"{lead}{name} name, and more"))
    said = cli.ok("history", "m1", "-n", "1").splitlines()
    before, _, after = next(line for line in said if "content:" in line).partition("→")
    assert "old name" in before
    assert "new name" in after
    assert "… " in before


def test_what_was_stored_and_is_gone_is_said_by_every_command_until_it_is_accepted(
    cli: Cli,
) -> None:
    for text in (
        "the first thing that was seen",
        "something else entirely",
        "a third and last observation",
    ):
        cli.ok("append", text)
    journal = cli.store / "journal.jsonl"
    whole = journal.read_bytes()
    journal.write_bytes(b"".join(whole.splitlines(keepends=True)[:-1]))
    said = "Revision 3 is missing from the journal."
    for command in ("list", "history", "status", "stats"):
        assert said in cli(command).err
    result = cli("doctor")
    assert result.code == 1
    assert said in result.out
    assert "`workbench doctor --accept`" in result.out
    found = cli.told("doctor")
    assert found["gone"] == [{"first": 3, "last": 3, "replaced": False}]
    assert said in cli("append", "what came after the loss").err
    assert cli("doctor").code == 1
    assert "No longer reported as missing" in cli.ok("doctor", "--accept")
    assert cli.ok("doctor")
    assert "what came after the loss" in cli.ok("list")
    assert "nothing to accept" in cli.ok("doctor", "--accept")


def test_a_damaged_line_before_the_checkpoint_is_said_by_list_and_history(demo: Cli) -> None:
    assert "no damage" in demo.ok("doctor")
    spoil(demo.store, 2)
    for command in ("list", "history"):
        assert "journal.jsonl:2" in demo(command).err
    assert demo("doctor").code == 1


def test_what_killed_processes_left_outside_the_store_is_named_until_the_next_of_its_kind(
    demo: Cli,
) -> None:
    state = paths.state_dir()
    kept = Replaced(paths.replaced_dir())
    typed = drafts.folder_of(state, demo.store)

    def draft() -> str:
        return drafts.keep(typed, drafts.Item("memories/m1"), drafts.Draft("typed", "", NOW))

    killed_after(lambda: kept.keep(Path("book.txt"), b"a copy"), "fsync", 1)
    killed_after(draft, "fdopen", 1)
    left = [path for path in state.rglob("*.tmp") if path.is_file()]
    assert len(left) == 2
    said = demo("doctor")
    assert said.code == 0
    assert all(f"leftover  {path}: left by a process" in said.out for path in left)
    assert demo.json("doctor")["leavings_outside"] == sorted(map(str, left))
    kept.keep(Path("book.txt"), b"a copy")
    assert draft() == ""
    assert "leftover" not in demo.ok("doctor")


@pytest.mark.slow
def test_a_masked_backup_that_was_killed_leaves_its_copy_where_the_doctor_the_next_one_and_a_purge_find_it(
    cli: Cli,
) -> None:
    put(cli, m1=f"key {KEY}", m2="fine")
    scratch = caches.place(paths.cache_dir(), cli.store) / caches.SCRATCH
    backup = ["--store", str(cli.store), "backup", "b.tar.gz", "--mask"]

    def broken_off() -> None:
        running = Command(backup, cli.cwd)
        while running.code is None and not scratch.joinpath("copy").exists():
            pass
        running.kill()
        assert running.ended()[0] < 0
        assert scratch.joinpath("whole").exists()
        assert f"leftover  {scratch}: left by a process" in cli.ok("doctor")

    broken_off()
    cli.ok("purge", "m2", "--yes-erase", "m2")
    assert not scratch.exists()
    broken_off()
    assert cli(*backup[2:]).code == 0
    assert not scratch.exists()
    assert "leftover" not in cli.ok("doctor")


@pytest.mark.slow
def test_a_backup_is_restored_as_the_same_store(demo: Cli) -> None:
    assert "none yet" in demo.ok("doctor")
    before = files_of(demo.store)
    assert "every byte checked" in demo.ok("backup", "b.tar.gz")
    assert files_of(demo.store) == before
    assert demo.bare("restore", "b.tar.gz", "new").code == 0
    every = ("list", "-n", "0", "--json")
    assert demo.bare("--store", "new", *every).out == demo.ok(*every)
    assert str(demo.cwd / "b.tar.gz") in demo.ok("doctor")
    assert demo("backup", "b.tar.gz", "--force").code == 0


def test_the_doctor_names_what_a_killed_backup_left_and_the_next_one_removes_it(demo: Cli) -> None:
    (demo.cwd / "kept").mkdir()
    demo.ok("backup", "kept/one.wbk")
    left = demo.cwd / "kept" / ".workbench-backup-x7.tmp"
    left.write_bytes(b"cut off")
    assert str(left) in demo.ok("doctor")
    demo.ok("backup", "kept/two.wbk")
    assert sorted(path.name for path in left.parent.iterdir()) == ["one.wbk", "two.wbk"]


def test_a_clock_that_was_set_back_is_said_by_the_doctor_and_by_a_search(cli: Cli) -> None:
    cli.ok("append", "deploys fail on friday")
    assert "dated in the future" not in cli.ok("doctor")
    later = NOW + timedelta(days=365)
    stored(cli, memory("mem-20270320-0000007", "deploys fail on monday", later))
    warning = "1 memory is dated after 2026-03-20T18:00+00:00, this machine's clock, and left out."
    assert warning in cli("search", "deploys").err
    assert warning in cli("search", "deploys", "--for-agent", "x").err
    assert warning not in cli("search", "deploys", "--now", "2028-01-01").err
    assert "1 memory is dated in the future" in cli.ok("doctor")


def test_what_is_no_backup_is_one_sentence(cli: Cli) -> None:
    cli.write("b", "text")
    result = cli.bare("restore", "b", "new")
    assert result.code == 2
    assert result.out == ""
    assert result.err.count("\n") == 1
    assert sorted(Path(cli.cwd).iterdir()) == [cli.cwd / "b"]


@pytest.mark.slow
def test_a_backup_says_how_many_secrets_it_holds_and_is_masked_when_asked(cli: Cli) -> None:
    old, new, kept = (fresh(seed)["github"].secret for seed in ("old", "new", "kept"))
    put(cli, m2="fine")
    assert cli("backup", "a.tar.gz").err == cli("backup", "b.tar.gz", "--mask").err == ""
    put(cli, m1=f"key {old}")
    put(cli, m1=f"key {new}", m3=f"a test key {kept}")
    cli.ok("allow", "m3", "--reason", "a test key")
    plain = cli("backup", "plain.tar.gz")
    assert plain.err == "It contains 2 secrets; --mask leaves them out.\n"
    before = files_of(cli.store)
    assert cli("backup", "masked.tar.gz", "--mask").err == "2 secrets masked in it.\n"
    assert files_of(cli.store) == before
    for name, left in (("plain", True), ("masked", False)):
        cli.bare("restore", f"{name}.tar.gz", name)
        held = [bool(left_in(cli.cwd / name, secret)) for secret in (old, new, kept)]
        assert held == [left, left, True]
    assert "[secret: GitHub token]" in cli.bare("--store", "masked", "list").out
    assert cli.bare("--store", "masked", "doctor").code == 0


SECRET = "the vault opens with marmalade-9912 on Tuesdays"


REASON = "because the vault opens with marmalade-9912 on Tuesdays"


def everything(folder: Path) -> bytes:
    """Return every byte below a folder, packed files unpacked as well."""
    data = b""
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        raw = path.read_bytes()
        data += raw + (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else b"")
    return data


@pytest.fixture
def secret(demo: Cli) -> str:
    """Store a secret, embed it, vote on it, edit it, judge it, and propose a merge with it."""
    demo.ok("ingest", SECRET, "--type", "gotcha")
    (id,) = [line.split()[0] for line in demo.ok("list", "marmalade-9912").splitlines()[:1]]
    demo.ok("vote", id, "helpful", "--reason", REASON)
    demo.ok("vote", id, "harmful", "--reason", REASON, "--actor", "claude")
    demo("search", SECRET)
    demo.ok("ingest", "not the vault opens with marmalade-9912 on Tuesdays")
    query = f'{{"query": "vault", "relevant": {{"{id}": 3}}}}\n'
    demo.ok("import", demo.write("queries.jsonl", query))
    assert b"marmalade-9912" in everything(demo.store)
    return id


@pytest.mark.slow
def test_nothing_of_the_text_is_left_anywhere(demo: Cli, secret: str) -> None:
    other = next(
        line.split()[0]
        for line in demo.ok("list", "marmalade-9912").splitlines()
        if secret not in line
    )
    typed = drafts.folder_of(state_dir(), demo.store)
    drafts.keep(typed, drafts.Item(f"memories/{secret}"), drafts.Draft(f"{SECRET}, or", "", NOW))
    assert b"marmalade" in everything(typed)
    result = demo("purge", secret, other, "--yes-erase", secret, "--yes-erase", other)
    assert result.code == 0, result.err
    assert everything(typed) == b""
    assert f"Erased {secret}, {other}, 2 votes, 1 judgment" in result.out
    assert "journal.jsonl" in result.out
    assert "cache" in result.out
    left = everything(demo.store)
    for text in (b"marmalade", b"vault opens"):
        assert text not in left
    demo.refused("show", secret)
    assert demo.ok("doctor")
    lines = demo.ok("history", secret)
    assert "(purged)" in lines or "ingest" in lines
    assert demo("search", "how do we deploy").code == 0


class Typed(StringIO):
    """What a person types at a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.slow
def test_the_id_has_to_be_typed(demo: Cli, secret: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = files_of(demo.store)
    for typed, said in (
        (StringIO(""), f"--yes-erase {secret}"),
        (Typed("yes\n"), f"That is not {secret}."),
    ):
        monkeypatch.setattr(sys, "stdin", typed)
        assert said in demo.refused("purge", secret)
    demo.refused("purge", secret, "--yes-erase", "mem-other")
    assert files_of(demo.store) == before
    monkeypatch.setattr(sys, "stdin", Typed(f"{secret}\n"))
    assert demo("purge", secret).code == 0
    demo.refused("show", secret)


@pytest.mark.slow
def test_what_was_promoted_goes_from_the_files_too(demo: Cli, secret: str) -> None:
    demo.store = demo.store.rename(demo.cwd / ".workbench")
    demo.write("CLAUDE.md", "# Mine\n")
    demo("allow", secret)
    demo.ok("review", "promote", secret, "--to", "memory", "--name", "vault", "--title", "Vault")
    demo.ok("undo")
    demo.ok("review", "promote", secret, "--to", "CLAUDE.md")
    assert b"marmalade-9912" in (demo.cwd / "CLAUDE.md").read_bytes()
    result = demo("purge", secret, "--yes-erase", secret)
    assert result.code == 0
    assert "removed from: CLAUDE.md" in result.out
    assert (demo.cwd / "CLAUDE.md").read_text() == "# Mine\n"
    assert b"marmalade-9912" not in everything(demo.store)
    assert not list(demo.cwd.glob(".claude/memory/*"))


def test_a_file_that_somebody_changed_is_named(demo: Cli, secret: str) -> None:
    demo.store = demo.store.rename(demo.cwd / ".workbench")
    demo("review", "promote", secret, "--to", "CLAUDE.md")
    path = demo.cwd / "CLAUDE.md"
    path.write_text(path.read_text().replace("the vault", "our vault"))
    purge = ("purge", secret, "--yes-erase", secret)
    line = next(n for n, text in enumerate(path.read_text().splitlines(), 1) if "our vault" in text)
    said = f"The text may still be in {path}:{line}, which was edited by hand."
    result = demo(*purge)
    assert result.code == 1
    assert said in result.err
    assert b"marmalade-9912" not in everything(demo.store)
    before = files_of(demo.store)
    again = demo(*purge)
    assert again.code == 1
    assert said in again.err
    assert "already erased" in again.out
    assert files_of(demo.store) == before, "no revision for nothing"
    path.write_text("# Mine\n")
    assert demo(*purge).code == 0


def test_a_purge_is_not_passed_over_by_undo(cli: Cli) -> None:
    cli.ok("append", "use pnpm in this repository")
    cli.ok("append", SECRET)
    id = "mem-20260320-0000002"
    cli.ok("purge", id, "--yes-erase", id)
    assert "purge 1 record\n" in cli.ok("history", "-n", "1")
    before = files_of(cli.store)
    err = cli.refused("undo")
    assert files_of(cli.store) == before
    assert err.startswith("workbench: The purge cannot be undone. The change before it is: ingest ")
    rev = err.partition("--rev ")[2].partition("`")[0]
    cli.ok("undo", "--rev", rev)
    assert "pnpm" not in cli("list").out
    cli.ok("append", "something new")
    assert "something new" in cli.ok("list")
    cli.ok("undo")


def test_what_was_done_again_after_a_purge_is_undone(cli: Cli) -> None:
    cli.ok("append", SECRET)
    cli.ok("append", "use pnpm in this repository")
    cli.ok("undo")
    id = "mem-20260320-0000001"
    cli.ok("purge", id, "--yes-erase", id)
    cli.ok("redo")
    assert "pnpm" in cli.ok("list")
    cli.ok("undo")
    assert "pnpm" not in cli("list").out
    assert cli("undo").err.startswith("workbench: Nothing to undo.")
