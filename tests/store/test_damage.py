"""Every way a journal can be cut or altered: noticed, named, and the rest is there."""

import random
from pathlib import Path

import pytest

from tests.store.helpers import lines, open_journal, put
from workbench.store.maintenance.doctor import examine, recover


def filled(folder: Path, count: int) -> list[bytes]:
    journal = open_journal(folder)
    for number in range(1, count + 1):
        put(journal, number, {"id": f"x{number}", "a": "äöü" * number})
    return lines(folder)


@pytest.mark.slow
def test_a_journal_cut_at_any_byte_of_its_last_three_lines(tmp_path: Path) -> None:
    content = filled(tmp_path / "s", 6)
    path = tmp_path / "s" / "journal.jsonl"
    data = b"".join(content)
    ends = [sum(map(len, content[: n + 1])) for n in range(len(content))]
    for cut in range(ends[-4], len(data)):
        path.write_bytes(data[:cut])
        journal = open_journal(tmp_path / "s")
        whole = sum(1 for end in ends[1:] if end - 1 <= cut)
        assert (journal.rev, journal.damage) == (whole, [])
        torn = max(0, cut - max(end for end in ends if end - 1 <= cut))
        assert examine(tmp_path / "s").torn == torn
        assert put(journal, 99, {"a": cut}) == whole + 1
        assert len(journal.notices) == (torn > 0)
        again = open_journal(tmp_path / "s")
        assert (again.rev, again.damage, set(again.state.tables["t"])) == (
            whole + 1, [], {str(n) for n in (*range(1, whole + 1), 99)},
        )  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_a_flipped_bit_in_the_middle_is_named_and_the_rest_is_saved(
    tmp_path: Path, seed: int
) -> None:
    content = filled(tmp_path / "s", 8)
    path = tmp_path / "s" / "journal.jsonl"
    data = b"".join(content)
    chance = random.Random(seed)
    for step in range(60):
        line = chance.randrange(1, 8)
        start = sum(map(len, content[:line]))
        place = start + chance.randrange(len(content[line]))
        spoiled = bytearray(data)
        spoiled[place] ^= 1 << chance.randrange(8)
        path.write_bytes(spoiled)
        found = examine(tmp_path / "s")
        assert (found.damage[0].line, found.damage[0].offset) == (line + 1, start)
        lost = {str(line)}
        if place == start + len(content[line]) - 1:
            lost.add(str(line + 1))
        saved = recover(
            tmp_path / "s", open_journal(tmp_path / "s").clock().replace(year=2000 + step)
        )
        assert (
            set(open_journal(saved.folder).state.tables["t"])
            >= {str(n) for n in range(1, 9)} - lost
        )
        assert set(open_journal(tmp_path / "s").state.tables["t"]) == set(
            open_journal(saved.folder).state.tables["t"]
        )
