"""The progress line: a bar with counts and a rate on a terminal, nothing anywhere else."""

import sys

import pytest

from workbench.cli.progress import ProgressLine, waits_said
from workbench.core.files.locks import Holder, patience


def test_a_long_work_says_how_many_a_second(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    times = iter([10.0, 12.0])
    line = ProgressLine("importing \x1b[31m", 100, lambda: next(times))
    line(3000, 6000)
    line.clear()
    said = capsys.readouterr().err
    assert said.startswith("\r▓▓▓▓▓▓▓▓▓▓▓▓░░░░░░░░░░░░ 3,000 of 6,000 · importing ␛[31m · 1,500/s")
    assert said.endswith("\r\x1b[K")


def test_short_work_and_other_places_stay_silent(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ProgressLine("x", 1)(5, 10)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    ProgressLine("x", 100)(5, 10)
    assert capsys.readouterr().err == ""
    ProgressLine("x", 1)(5, 10)
    assert "5 of 10 · x" in capsys.readouterr().err


def test_it_says_for_whom_what_was_paid_for_waits(capsys: pytest.CaptureFixture[str]) -> None:
    with waits_said():
        tell = patience().waits_for
        assert tell is not None
        tell(Holder(7, "python3"))
    assert capsys.readouterr().err == (
        "workbench: Another process (python3, 7) is writing to the store. "
        "The paid reply is stored when the store is free; ctrl+c twice discards it.\n"
    )
