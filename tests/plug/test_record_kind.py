"""A kind of record that nobody else knows: it is stored, found, counted, undone, merged by key, masked and purged.

The toy is a reminder about a memory, of one of several lists.
"""

import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.tui.support import NOW
from workbench.bench.health.maintenance import examine, recover
from workbench.bench.open import Workbench, open_workbench
from workbench.cli.health.purge import erase
from workbench.core.errors import InvalidRecord, UnknownRecord
from workbench.core.stream.memory import Memory
from workbench.store.records import RECORDS, Records, RecordType

KEY = "AKIAZ7QWERTYUI5PLMNB"
"""What looks like a key of a cloud."""


@dataclass(frozen=True, slots=True)
class Reminder:
    """What somebody wants to be told of a memory; `pile` is the list it is on."""

    id: str
    about: str
    text: str
    pile: str = "own"
    told: int = 0
    version: int = 1


REMINDERS = RecordType(
    "tests.plug.test_record_kind:Reminder", "reminders", "reminder",
    within=("pile", "own"), refs=("about",), counters=("told",), is_named=True,
)  # fmt: skip

# Not at the end, so that nothing can rely on the order.
KNOWN = Records((*RECORDS.entries[:3], REMINDERS, *RECORDS.entries[3:]))

MEMORY = Memory("m-1", "The build needs the lock file.", NOW, NOW, status="confirmed")
OTHER = Memory("m-2", "Ask before a deploy on Friday.", NOW, NOW, status="confirmed")
TOY = Reminder("r-1", "m-1", "Look whether it still does.")


def opened(folder: Path, records: Records = KNOWN) -> Workbench:
    return open_workbench(folder / "store", profiles=folder / "profiles", clock=lambda: NOW, records=records)


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    bench = opened(tmp_path)
    put(bench, MEMORY, OTHER)
    put(bench, TOY, replace(TOY, pile="ours", about="m-2"), label="remind")
    return bench


def put(bench: Workbench, *records: object, label: str = "add") -> None:
    with bench.library.transaction("human", label) as tx:
        for record in records:
            tx.put(record)


def test_it_is_found_under_its_key_also_by_who_opens_the_store_next(bench: Workbench, tmp_path: Path) -> None:
    reminders = bench.library.table(Reminder)
    assert (reminders.name, len(reminders)) == ("reminders", 2)
    assert reminders.get("own/r-1") == TOY
    assert reminders.get("ours/r-1").about == "m-2"
    assert bench.history.place_of("own/r-1") == ("reminders", "own/r-1")
    bench.close()
    again = opened(tmp_path).library
    assert again.table(Reminder).all() == [TOY, replace(TOY, pile="ours", about="m-2")]
    # One who does not know it leaves it where it is.
    stranger = opened(tmp_path, RECORDS)
    with pytest.raises(KeyError):
        stranger.library.table(Reminder)
    put(stranger, replace(MEMORY, content="The build needs no lock file."))
    assert len(opened(tmp_path).library.table(Reminder)) == 2


def test_it_is_undone_redone_and_shown_as_it_was(bench: Workbench) -> None:
    reminders = bench.library.table(Reminder)
    put(bench, replace(TOY, text="Never mind."), label="put off")
    rev = bench.library.revision
    assert bench.history.undo() == "put off"
    assert reminders.get("own/r-1") == TOY
    assert bench.history.redo() == "put off"
    assert reminders.get("own/r-1").text == "Never mind."
    events = list(bench.history.events(("reminders", "own/r-1")))
    assert [event.label for event in events] == ["redo: put off", "undo: put off", "put off", "remind"]
    assert bench.history.at_revision(("reminders", "own/r-1"), rev - 1) == TOY
    assert bench.history.at_revision(("reminders", "own/r-1"), rev) == reminders.get("own/r-1")
    with bench.library.transaction("human", "done") as tx:
        tx.delete(reminders.get("own/r-1"))
    assert (reminders.find("own/r-1"), len(reminders)) == (None, 1)
    bench.history.undo()
    assert reminders.get("own/r-1").text == "Never mind."


def test_who_counts_at_once_does_not_clash(bench: Workbench) -> None:
    reminders = bench.library.table(Reminder)
    put(bench, replace(TOY, told=1), label="told")
    first = bench.library.revision
    put(bench, replace(TOY, told=2), label="told again")
    (change,) = next(bench.library.changes_back()).changes
    assert (dict(change.inc), dict(change.fields)) == ({"told": 1}, {})
    bench.history.undo_revision(first)
    assert reminders.get("own/r-1").told == 1


def test_what_is_typed_into_it_is_masked_and_what_is_there_is_found(bench: Workbench) -> None:
    reminders = bench.library.table(Reminder)
    put(bench, replace(TOY, text=f"The key is {KEY}."))
    assert KEY not in reminders.get("own/r-1").text
    assert bench.gate.masked
    with pytest.raises(InvalidRecord, match="The id holds a secret"):
        put(bench, replace(TOY, id=f"r-{KEY}"))
    # An import leaves what it brings as it was: what it holds is found where it is, and masked on a word.
    with bench.library.transaction("import:x", "import", group="import-1") as tx:
        tx.put(replace(TOY, id="r-2", text=f"The key is {KEY}."))
    (leak,) = [leak for leak in bench.leaks.find(()) if leak.secret == KEY]
    assert leak.place == "reminders own/r-2, text"
    bench.leaks.mask(())
    assert KEY not in reminders.get("own/r-2").text
    assert bench.leaks.find(()) == ()


def test_what_copies_a_file_is_left_as_it_is(tmp_path: Path) -> None:
    bench = opened(tmp_path, Records((*RECORDS.entries, REMINDERS._replace(is_copy=True))))
    put(bench, replace(TOY, text=f"The key is {KEY}."))
    assert KEY in bench.library.table(Reminder).get("own/r-1").text


def test_it_is_purged_by_name_and_with_what_it_is_about(
    bench: Workbench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reminders = bench.library.table(Reminder)
    plan = bench.eraser.plan(["m-1"])
    assert plan.about[REMINDERS] == (("reminders", "own/r-1"),)
    erase(bench, plan)
    assert "Erased m-1, 1 reminder." in capsys.readouterr().out
    assert [one.about for one in reminders.all()] == ["m-2"]
    bench.eraser.carry_out(bench.eraser.plan(["ours/r-1"]))
    assert reminders.all() == []
    kept = b"".join(path.read_bytes() for path in (tmp_path / "store").iterdir() if path.is_file())
    assert TOY.text.encode() not in kept
    assert OTHER.content.encode() in kept
    with pytest.raises(UnknownRecord):
        bench.eraser.plan(["r-9"])


def test_listing_the_kinds_loads_none_of_them() -> None:
    code = "import sys, workbench.store.naming\nprint(*sorted(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    classes = {entry.type.partition(":")[0] for entry in RECORDS.entries}
    assert "workbench.core.record" in found.stdout.split()
    assert classes.isdisjoint(found.stdout.split())
    assert {RECORDS.table_of(RECORDS.kind_in(entry.table)) for entry in RECORDS.entries} == RECORDS.tables


def test_what_is_half_purged_is_named_by_its_key(bench: Workbench) -> None:
    def stopped() -> tuple[str, ...]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bench.library.maintenance.purge([("reminders", "ours/r-1")], "human", stopped)
    library = bench.library
    for found in (library.maintenance.unfinished_purges(), examine(library.folder, records=KNOWN).purges):
        assert [one.records for one in found] == [(("reminders", "ours/r-1"),)]
    assert examine(recover(library.folder, NOW, KNOWN).folder, records=KNOWN).is_sound
