"""Two records that somebody keeps apart, whatever their texts."""

from pathlib import Path

from tests.store.helpers import clock, memory, open_library
from workbench.core.duplicates.groups import KeptPair, kept_pair
from workbench.core.playbook.book import Bullet


def test_bullets_and_memories_are_kept_apart(tmp_path: Path) -> None:
    library = open_library(tmp_path)
    bullets = [Bullet(f"b{n}", "misc", f"Read log {n}.") for n in range(2)]
    with library.transaction("human", "keep apart") as tx:
        pairs = (
            kept_pair(bullets[0], bullets[1], 0.9, "human", clock()),
            kept_pair(memory(1), memory(2), 0.9, "human", clock()),
        )
        for record in (*bullets, memory(1), memory(2), memory(3), *pairs):
            tx.put(record)
    is_kept = library.kept_apart()
    assert is_kept(*bullets)
    assert is_kept(memory(2), memory(1))
    assert not is_kept(memory(1), memory(3))


def test_a_decision_of_unknown_texts_holds_whatever_they_are(tmp_path: Path) -> None:
    library = open_library(tmp_path)
    with library.transaction("human", "keep apart") as tx:
        tx.put(KeptPair("m1|m2|", "", "m1", "m2", 0.9, "", "human", clock()))
    assert library.kept_apart()(memory(1, "one text"), memory(2, "another"))
    assert not library.kept_apart()(memory(1), memory(3))
