"""`workbench doctor` and `workbench compact`."""

import json
import sqlite3
from pathlib import Path

import pytest

from tests.cli.commands import Command
from tests.cli.conftest import NOW, Cli, files_of
from tests.cli.shared import KEY, put
from tests.demo import MEMORIES
from tests.store.helpers import killed_after
from workbench.config import drafts, paths
from workbench.core.stream.memory import Memory
from workbench.services import caches
from workbench.services.files.replaced import Replaced
from workbench.store.library import Library


def test_a_sound_store_is_said_to_be_sound_and_left_alone(demo: Cli) -> None:
    before = files_of(demo.store)
    out = demo.ok("doctor")
    assert "every line is sound" in out
    assert files_of(demo.store) == before
    assert demo.json("doctor")["clean"] is True


def test_a_read_index_that_differs_is_made_anew_and_said(cli: Cli) -> None:
    library = Library(cli.store, lambda: NOW, heads=paths.heads_dir())
    with library.transaction("human", "many") as tx:
        for number in range(400):
            tx.put(Memory(f"m{number}", f"{number} " + "word " * 800, NOW, NOW))
    library.close()
    assert "the read index" not in cli.ok("doctor")
    (index,) = paths.cache_dir().rglob("index.sqlite")
    with sqlite3.connect(index) as connection:
        connection.execute("UPDATE docs SET key = 'nobody' WHERE key IN ('m3', 'm4')")
    connection.close()
    said = "the read index differed from the store in 2 records, and was made anew"
    assert said in cli.ok("doctor")
    assert cli.json("show", "m3")["id"] == "m3"
    found = cli.json("doctor")
    assert (found["clean"], found["index_made_anew"]) == (True, None)


def test_no_store_cannot_be_examined(cli: Cli) -> None:
    err = cli.refused("doctor")
    assert (
        err
        == f"workbench: There is no store in {cli.store}. `workbench init --store DIR` makes one.\n"
    )
    assert not cli.store.exists()


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
    demo.ok("vote", "shr-00001", "helpful")
    demo.ok("vote", "shr-00002", "helpful")
    lines = (demo.store / "journal.jsonl").read_bytes().count(b"\n")
    offset = spoil(demo.store, lines - 1)
    before = files_of(demo.store)
    result = demo("doctor")
    assert result.code == 1
    assert (
        f"journal.jsonl:{lines - 1}: byte {offset}: its checksum does not match its content"
        in result.out
    )
    assert "workbench doctor --recover" in result.out
    result = demo("doctor", "--recover")
    assert (result.code, files_of(demo.store)) == (0, before)
    saved = next(demo.store.parent.glob("store.recovered-*"))
    assert str(saved) in result.out
    stats = json.loads(demo.bare("--store", str(saved), "stats", "--json").out)
    assert (stats["memories"], stats["bullets"], stats["votes"]) == (MEMORIES, 43, 1)
    assert demo.bare("--store", str(saved), "doctor").code == 0


def test_a_sound_store_is_not_recovered(demo: Cli) -> None:
    assert "Nothing is damaged" in demo.ok("doctor", "--recover")
    assert list(demo.store.parent.glob("store.recovered-*")) == []


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
    assert demo("show", "left").code == 2
    assert demo("doctor").code == 0


def edit_outside(store: Path, old: str, new: str) -> None:
    file = store / "memory.json"
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


@pytest.mark.parametrize(
    "lead", ["Long before anything differs there are words that stay. " * 3, "x" * 150]
)
def test_the_history_shows_a_long_text_from_where_it_differs(cli: Cli, lead: str) -> None:
    library = Library(cli.store, lambda: NOW)
    for text in (f"{lead}old name, and more", f"{lead}new name, and more"):
        with library.transaction("cli", "write") as tx:
            tx.put(_memory("m1", text))
    library.close()
    line = next(
        line for line in cli.ok("history", "m1", "-n", "1").splitlines() if "content:" in line
    )
    before, _, after = line.partition("→")
    assert "old name" in before
    assert "new name" in after
    assert "… " in before


def test_an_outside_edit_is_shown_then_taken_over_and_can_be_undone(cli: Cli) -> None:
    library = Library(cli.store, lambda: NOW)
    with library.transaction("cli", "one") as tx:
        tx.put(_memory("m1", "the first wording"))
    library.close()
    edit_outside(cli.store, "the first wording", "another wording")
    result = cli("doctor")
    assert result.code == 1
    assert "m1 content: the first wording → another wording" in result.out
    result = cli("doctor", "--accept-edit")
    assert (result.code, "Took over 1 record" in result.out) == (0, True)
    assert "another wording" in cli.ok("show", "m1")
    assert cli("doctor").code == 0
    cli.ok("undo")
    assert "the first wording" in cli.ok("show", "m1")


def test_an_outside_edit_may_be_turned_down_and_is_kept(cli: Cli) -> None:
    library = Library(cli.store, lambda: NOW)
    with library.transaction("cli", "one") as tx:
        tx.put(_memory("m1", "the first wording"))
    library.close()
    edit_outside(cli.store, "the first wording", "another wording")
    assert cli("doctor", "--dismiss-edit").code == 0
    assert "the first wording" in cli.ok("show", "m1")
    (kept,) = cli.store.glob("memory.dismissed-*")
    assert "another wording" in kept.read_text("utf-8")
    result = cli("doctor", "--accept-edit")
    assert (result.code, result.err) == (
        2, "workbench: No other program has changed memory.json. Nothing was changed.\n",
    )  # fmt: skip


def test_compact_packs_closed_files_and_history_still_reads_them(cli: Cli) -> None:
    cli.ok("init")
    assert cli.ok("compact").startswith("Nothing to pack")
    _in_small_files(cli.store)
    before = cli.ok("history", "-n", "99")
    out = cli.ok("compact")
    assert ".jsonl.gz: " in out
    assert not list(cli.store.glob("journal-*.jsonl"))
    assert cli.ok("history", "-n", "99") == before
    assert cli.ok("compact").startswith("Nothing to pack")


def _in_small_files(store: Path) -> None:
    from workbench.store.journal.engine import Options

    library = Library(store, lambda: NOW, Options(segment_bytes=1500))
    for number in range(12):
        with library.transaction("cli", f"note {number}") as tx:
            tx.put(_memory(f"m{number}", f"note number {number} " * 10))
    library.close()


def _memory(id: str, text: str) -> object:
    from workbench.core.stream.memory import Memory

    return Memory(id, text, NOW, NOW)


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
    said = "Revision 3 was stored and is gone from the journal."
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
    assert "No longer missed" in cli.ok("doctor", "--accept")
    assert cli.ok("doctor")
    assert "what came after the loss" in cli.ok("list")
    assert "nothing to accept" in cli.ok("doctor", "--accept")


def test_a_damaged_line_before_the_checkpoint_is_said_by_list_and_history(demo: Cli) -> None:
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
    assert all(f"leftover  {path}: a process left it" in said.out for path in left)
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
        assert f"leftover  {scratch}: a process left it" in cli.ok("doctor")

    broken_off()
    cli.ok("purge", "m2", "--yes-erase", "m2")
    assert not scratch.exists()
    broken_off()
    assert cli(*backup[2:]).code == 0
    assert not scratch.exists()
    assert "leftover" not in cli.ok("doctor")


@pytest.mark.slow
def test_a_restore_that_was_killed_leaves_a_folder_that_the_doctor_names(demo: Cli) -> None:
    demo.ok("backup", "b.tar.gz")
    place = demo.store.parent / "again"
    killed_after(lambda: demo.bare("restore", "b.tar.gz", str(place)), "fsync", 2)
    half = place.with_name(".again.restoring")
    assert half.exists()
    assert f"leftover  {half}: a process left it" in demo.ok("doctor")
    assert demo.bare("restore", "b.tar.gz", str(place)).code == 0
    assert "leftover" not in demo.ok("doctor")


def test_a_purge_that_was_killed_is_said_with_exit_code_1_and_finished_as_asked(cli: Cli) -> None:
    put(cli, m1="what nobody may know at all", m2="fine")
    killed_after(lambda: cli("purge", "m1", "--yes-erase", "m1"), "fsync", 1)
    said = cli("doctor")
    assert said.code == 1
    assert "was broken off: texts may still be in some files" in said.out
    assert cli.told("doctor")["unfinished_purges"][0]["records"] == [["memories", "m1"]]
    assert "Erased m1." in cli.ok("doctor", "--finish")
    assert b"nobody may know" not in b"".join(cli.files().values())
    assert cli("doctor").code == 0
    assert "Nothing is half done." in cli.ok("doctor", "--finish")
