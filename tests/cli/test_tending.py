"""`workbench doctor` and `workbench compact`."""

import json
from pathlib import Path

from tests.cli.conftest import NOW, Cli, files_of
from workbench.store.library import Library


def test_a_sound_store_is_said_to_be_sound_and_left_alone(demo: Cli) -> None:
    before = files_of(demo.store)
    out = demo.ok("doctor")
    assert "every line is sound" in out
    assert files_of(demo.store) == before
    assert json.loads(demo.ok("doctor", "--json"))["clean"] is True


def test_no_store_cannot_be_examined(cli: Cli) -> None:
    result = cli("doctor")
    assert (result.code, result.out) == (2, "")
    assert result.err == f"workbench: There is no store in {cli.store}. Nothing was changed.\n"
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
    assert f"journal.jsonl:{lines - 1}: byte {offset}: its checksum does not match its content" in result.out
    assert "workbench doctor --recover" in result.out
    result = demo("doctor", "--recover")
    assert (result.code, files_of(demo.store)) == (0, before)
    saved = next(demo.store.parent.glob("store.recovered-*"))
    assert str(saved) in result.out
    stats = json.loads(demo.bare("--store", str(saved), "stats", "--json").out)
    assert (stats["memories"], stats["bullets"], stats["votes"]) == (257, 43, 1)
    assert demo.bare("--store", str(saved), "doctor").code == 0


def test_a_sound_store_is_not_recovered(demo: Cli) -> None:
    assert "Nothing is damaged" in demo.ok("doctor", "--recover")
    assert list(demo.store.parent.glob("store.recovered-*")) == []


def test_what_was_not_finished_is_named_with_the_way_back(demo: Cli) -> None:
    library = Library(demo.store, lambda: NOW)
    with library.transaction("import:notes.jsonl", "import notes.jsonl", group="import-abc", more=True) as tx:
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
    assert cli.ok("compact").startswith("Nothing to pack")
    _in_small_files(cli.store)
    before = cli.ok("history", "-n", "99")
    out = cli.ok("compact")
    assert ".jsonl.gz: " in out
    assert not list(cli.store.glob("journal-*.jsonl"))
    assert cli.ok("history", "-n", "99") == before
    assert cli.ok("compact").startswith("Nothing to pack")


def _in_small_files(store: Path) -> None:
    from workbench.store.engine import Options

    library = Library(store, lambda: NOW, Options(segment_bytes=1500, recent_of=("memories",)))
    for number in range(12):
        with library.transaction("cli", f"note {number}") as tx:
            tx.put(_memory(f"m{number}", f"note number {number} " * 10))
    library.close()


def _memory(id: str, text: str) -> object:
    from workbench.core.memory import Memory

    return Memory(id, text, NOW, NOW)
