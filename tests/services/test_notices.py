"""What the app is told of a store: an edit that waits is named once, and no sentence is left out
for its words.
"""

from tinydb import TinyDB

from tests.services.conftest import NOON, Clock, Open, write
from workbench.core.stream.memory import Memory
from workbench.store.maintenance.checkpoint_writer import ForeignFile


def test_an_edit_that_waits_is_said_once_and_no_sentence_goes_for_its_words(
    open_bench: Open,
) -> None:
    first = open_bench()
    write(first, Memory("m1", "Use pnpm.", NOON, NOON), by="agent:test")
    folder = first.library.folder
    first.close()
    with TinyDB(folder / "memory.json") as plain:
        plain.table("memories").update({"content": "Use npm."})
    bench = open_bench()
    said = "A playbook was changed by another program."
    bench.library.note(said)
    assert list(bench.library.notices) == [ForeignFile(), said]
    kept, edit = bench.care.notices()
    assert kept == said
    assert edit.startswith("memory.json was changed by another program (1 records).")
    bench.care.dismiss_edit()
    assert said in bench.care.notices()


def test_what_was_not_finished_is_said_once_nobody_writes_any_more(
    open_bench: Open, clock: Clock
) -> None:
    bench = open_bench()
    with bench.library.transaction("agent:test", "import many", group="g", part=1, more=True) as tx:
        tx.put(Memory("m2", "Use npm.", NOON, NOON))
    assert bench.care.notices() == ()
    clock.advance(hours=1)
    (said,) = bench.care.notices()
    assert "“import many” was not finished" in said
