"""The faults can be seeded at any time: their texts and tests are where one of each is looked for,
wherever that is.
"""

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.faults.table import FLOORS, ROOT, Fault, Lost, catcher, faults, is_slow, place

NAMES = [f"{fault.number}-{fault.floor}" for fault in faults()]
PAGE = ROOT / "tests" / "faults.md"


def test_there_are_two_for_each_floor_and_nearly_all_are_caught_quickly() -> None:
    assert Counter(fault.floor for fault in faults()) == dict.fromkeys(FLOORS, 2)
    assert sum(not is_slow(fault) for fault in faults()) >= 18


@pytest.mark.parametrize("fault", faults(), ids=NAMES)
def test_a_fault_has_one_place_and_one_test(fault: Fault) -> None:
    path = place(fault)
    assert (ROOT / catcher(fault).partition("::")[0]).is_file()
    ast.parse(path.read_text("utf-8").replace(fault.before, fault.after))


@pytest.mark.parametrize("fault", faults(), ids=NAMES)
def test_the_page_tells_what_it_does_and_what_catches_it(fault: Fault) -> None:
    (row,) = (
        line
        for line in PAGE.read_text("utf-8").splitlines()
        if line.startswith(f"| {fault.number} |")
    )
    assert [cell.strip() for cell in row.strip("|").split("|")] == [
        str(fault.number), fault.floor, f"{fault.name}: {fault.what[0].lower()}{fault.what[1:]}", f"`{fault.test}`",
    ]  # fmt: skip


def test_a_text_that_stands_twice_or_not_at_all_is_said(tmp_path: Path) -> None:
    fault = Fault(1, "core", "it", "It does.", "x = 1", "x = 2", "test_it")
    package, tests = tmp_path / "workbench" / "core", tmp_path / "tests"
    package.mkdir(parents=True)
    tests.mkdir()
    with pytest.raises(Lost, match="stands 0 times"):
        place(fault, tmp_path)
    (package / "a.py").write_text("x = 1\n", "utf-8")
    assert place(fault, tmp_path) == package / "a.py"
    (package / "b.py").write_text("x = 1\n", "utf-8")
    with pytest.raises(Lost, match="stands 2 times"):
        place(fault, tmp_path)
    with pytest.raises(Lost, match="0 tests are called test_it"):
        catcher(fault, tmp_path)
