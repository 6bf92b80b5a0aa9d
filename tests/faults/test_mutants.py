"""What mutants are made of: one change at one place, written down so that it is found wherever its
module goes.
"""

import ast
from pathlib import Path

import pytest

from tests.faults import mutants
from tests.faults.changes import Source
from tests.faults.mutants import Mutant, standing

TEXT = """\
from typing import Literal

Kind = Literal["a", 1]


def clip(items: list[int] | None, *, most: int = 3) -> list[int]:
    assert most > 0
    if not items:
        return []
    while items and len(items) + 1 <= (
        most
    ):
        items = items[:-1]
    return [max(one, 0) for one, _ in zip(items, items, strict=True) if one % 2 == 1 or one] if items else "%s" % items
"""


def source(folder: Path, text: str = TEXT, name: str = "clip.py") -> Source:
    (folder / name).write_text(text, "utf-8")
    return Source(folder / name)


def test_each_change_is_one_operator_and_still_python(tmp_path: Path) -> None:
    module = source(tmp_path)
    found = set()
    for change in module.changes():
        texts = module.texts(change, module.data)
        assert texts is not None
        before, after = texts
        assert TEXT.count(before) == 1
        ast.parse(TEXT.replace(before, after))
        found.add((change[0], TEXT.encode()[change[1] : change[2]].decode(), change[3].decode()))
    assert found == {
        ("constant", "3", "4"), ("not", "not", ""), ("and/or", "and", "or"), ("comparison", "<=", "<"),
        ("arithmetic", "+", "-"), ("constant", "1", "2"), ("min/max", "max", "min"), ("constant", "0", "1"),
        ("arithmetic", "%", "*"), ("constant", "2", "3"), ("comparison", "==", "!="), ("and/or", "or", "and"),
        ("condition", "items", "(not (items))"),
    }  # fmt: skip


def test_a_line_that_stands_twice_is_kept_with_those_around_it(tmp_path: Path) -> None:
    module = source(tmp_path, "def a() -> int:\n    return 1\n\n\ndef b() -> int:\n    return 1\n")
    texts = [module.texts(change, module.data) for change in module.changes()]
    assert texts == [
        ("def a() -> int:\n    return 1", "def a() -> int:\n    return 2"),
        ("def b() -> int:\n    return 1", "def b() -> int:\n    return 2"),
    ]


def test_a_line_has_the_tests_of_what_is_nearest_around_it(tmp_path: Path) -> None:
    around = source(tmp_path).around(11)
    assert [(lines.start, lines.stop - 1) for lines in around] == [
        (11, 11),
        (10, 13),
        (6, 14),
        (1, 15),
    ]


def test_tests_are_found_where_they_went(tmp_path: Path) -> None:
    (tmp_path / "tests" / "new").mkdir(parents=True)
    for name in ("a", "b"):
        text = f"def test_only_{name}() -> None: ...\ndef test_both() -> None: ...\n"
        (tmp_path / "tests" / "new" / f"test_{name}.py").write_text(text, "utf-8")
    wanted = {
        "tests/old/test_a.py": ["test_only_a", "test_both", "test_gone"],
        "tests/new/test_b.py": ["test_both"],
    }
    assert standing(wanted, tmp_path) == [
        "tests/new/test_a.py::test_only_a",
        "tests/new/test_b.py::test_both",
    ]


def test_the_report_names_the_layer_that_is_worse_than_on_day_0(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(mutants, "KEPT", tmp_path / "mutants.jsonl")
    monkeypatch.setattr(mutants, "RESULTS", tmp_path / "results.jsonl")
    drawn = [
        Mutant(layer, "constant", f"{layer} {n}", "")
        for layer in ("core", "store")
        for n in range(2)
    ]
    mutants.write({}, drawn)
    rows = [{"id": mutant.id, "said": "caught", "by": ""} for mutant in drawn]
    for row in rows:
        mutants._note(row)
    assert mutants.report(keep=True) == 0
    mutants._note(rows[3] | {"said": "missed"})
    assert mutants.report(keep=False) == 1
    said = capsys.readouterr().out
    assert "NEWLY missed: 'store 1'" in said
    assert said.endswith("Worse than on day 0: store\n")
