"""Expectations of retrieval, for CI: what holds, what does not and why, and files that are none."""

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

QUERY = "why did the token refresh fail"
FIRST, SECOND = "mem-20260209-0000015", "mem-20260206-0000009"


@pytest.fixture
def expecting(demo: Cli, tmp_path: Path) -> Path:
    return tmp_path / "expectations.toml"


@pytest.mark.slow
def test_what_holds_is_said_and_counts_no_read(demo: Cli, expecting: Path) -> None:
    expecting.write_text(
        f'[[expect]]\nquery = "{QUERY}"\nfinds = ["{FIRST}"]\nnever = ["mem-20260320-0000257"]\ntop = 3\n'
        '[[expect]]\nquery = "recipe for lasagne"\nnothing = true\n'
    )
    before = demo.files()
    result = demo("check", str(expecting))
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines() == [
        f"✓ {QUERY}", "✓ recipe for lasagne", "2 expectations under workbench (default), all pass.",
    ]  # fmt: skip
    assert demo.files() == before


@pytest.mark.slow
def test_what_does_not_hold_is_said_with_the_reason(demo: Cli, expecting: Path) -> None:
    archived = next(row["id"] for row in demo.told("list", "status:archived"))
    expecting.write_text(
        f'[[expect]]\nquery = "{QUERY}"\ntop = 1\nfinds = ["{SECOND}", "{archived}", "none"]\n'
        f'never = ["{FIRST}"]\n[[expect]]\nquery = "{QUERY}"\nnothing = true\n'
        '[[expect]]\nquery = "recipe for lasagne"\nfinds = ["mem-20260320-0000257"]\n'
    )
    result = demo("check", str(expecting))
    assert result.code == 1
    for sentence in (
        f"{SECOND} ranks ", "; expected within the first 1", f"{archived} is not served: archived",
        "none is not served: not in the store", f"{FIRST} ranks 1; expected never within the first 1",
        f"{FIRST} is served; expected nothing relevant", "nothing here is relevant", "3 failed",
    ):  # fmt: skip
        assert sentence in result.out
    kinds = [[miss["kind"] for miss in row["misses"]] for row in demo.told("check", str(expecting))]
    assert kinds == [["low", "absent", "absent", "found"], ["something"], ["absent"]]


@pytest.mark.slow
def test_a_query_set_has_a_least_mean(demo: Cli, expecting: Path) -> None:
    demo.ok("queries", "export", str(expecting.parent / "judged.jsonl"))
    expecting.write_text('[[expect]]\nqueries = "judged.jsonl"\nndcg = 0.5\n')
    assert demo("check", str(expecting)).code == 0
    expecting.write_text('[[expect]]\nqueries = "judged.jsonl"\nndcg = 0.99\n')
    result = demo("check", str(expecting))
    assert result.code == 1
    assert "expected at least 0.99" in result.out


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "has no [[expect]]"), ("x = 1\n", "there is no “x” here"), ("[[expect]]\nquery = 3\n", ":2: query is a"),
        ('[[expect]]\nquery = "a"\n', "never and nothing"), ("[[expect]\n", "neither TOML nor"),
        ('[[expect]]\nquery = "a"\nfinds = [1]\n', ":3: finds is"),
        ('[[expect]]\nqueries = "a"\nndcg = 3\n', ":3: ndcg is"),
        ("a." * 200_000 + "b = 1\n", "a key has more than 200 parts"),
        ("a = " + "[" * 100_000, "it is nested too deeply"),
        ('[[expect]]\nquery = "a"\nfinds = ["b"]\ntop = 0\n', ":4: top is"),
        ('[[expect]]\nqueries = "gone.jsonl"\nndcg = 0.5\n', "gone.jsonl"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_checked_is_refused(
    text: str, sentence: str, demo: Cli, expecting: Path
) -> None:
    expecting.write_text(text)
    err = demo.refused("check", str(expecting))
    assert sentence in err


def test_a_missing_file_and_one_that_is_no_text_are_refused(demo: Cli, expecting: Path) -> None:
    assert "cannot be read" in demo("check", str(expecting)).err
    assert "is not a regular file" in demo("check", "/dev/zero").err
    expecting.write_bytes(b"")
    os.truncate(expecting, 3 << 30)
    assert "too large for expectations" in demo("check", str(expecting)).err
    expecting.write_bytes(b"\xff\xfe")
    assert "is not UTF-8 text" in demo("check", str(expecting)).err
