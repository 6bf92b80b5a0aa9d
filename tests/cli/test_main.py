"""The edges of the command line: `--store` in both places, wrong stores, help, and what ends a run."""

import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, Result
from workbench import __main__, __version__, crash

COMMANDS = [
    "demo", "import", "export", "search", "eval", "tune", "ingest", "append", "vote", "undo", "redo", "history", "show",
    "list", "stats", "status", "doctor", "compact", "purge", "config", "stores", "review",
]  # fmt: skip


def test_the_store_may_stand_before_or_after_the_command(demo: Cli) -> None:
    before = demo.bare("--store", str(demo.store), "status")
    after = demo.bare("status", "--store", str(demo.store))
    assert before == after
    assert before.out.startswith("14 pending")


def test_the_project_around_the_working_directory_is_found(demo: Cli) -> None:
    demo.store.rename(demo.cwd.parent / ".workbench")
    assert demo.bare("status").out.startswith("14 pending")


def test_a_store_path_that_is_a_file_is_refused(cli: Cli) -> None:
    cli.write("file", "words")
    for command in (("status",), ("ingest", "x"), ("import", "file"), ("undo",)):
        result = cli.bare("--store", "file", *command)
        assert (result.code, result.out) == (2, "")
        assert (
            result.err
            == "workbench: “file” is a file, not a store. Name the folder that holds memory.json.\n"
        )
    assert (cli.cwd / "file").read_text() == "words"


def test_a_store_below_a_file_is_refused(cli: Cli) -> None:
    cli.write("file", "words")
    result = cli.bare("--store", "file/store", "ingest", "x")
    assert result.code == 2
    assert result.err.count("\n") == 1


def test_the_global_store_is_made_on_first_use_without_a_word(cli: Cli) -> None:
    result = cli.bare("ingest", "The first thing ever noticed")
    assert (result.code, result.err) == (0, "")
    assert result.out == "Stored as mem-20260320-0000001, importance 5.\n"
    assert cli.bare("status").out == "0 pending · 1 unseen\n"


def test_version_and_help(cli: Cli) -> None:
    assert cli.bare("--version") == Result(0, f"workbench {__version__}\n", "")
    helped = cli.bare("--help")
    assert (helped.code, helped.err) == (0, "")
    most, every = (helped.out.partition(title)[2] for title in ("used most:", "by task:"))
    assert len(most.partition("\n\n")[0].splitlines()) == 1 + 10
    assert set(COMMANDS) <= set(every.replace(",", " ").split())


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(cli: Cli, command: str) -> None:
    result = cli.bare(command, "--help")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(f"usage: workbench {command}")
    assert "--store DIR" in result.out


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_the_terminal_and_breaks_between_words(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    wide = cli.bare(command, "--help").out.partition("\n\n")[2]
    monkeypatch.setenv("COLUMNS", "80")
    narrow = cli.bare(command, "--help").out.partition("\n\n")[2]
    assert [line for line in narrow.splitlines() if len(line) > 80] == []
    assert narrow.split() == wide.split()


def test_an_unknown_command_is_one_sentence(cli: Cli) -> None:
    result = cli.bare("remember")
    assert (result.code, result.out) == (2, "")
    assert result.err == "workbench: there is no command “remember”. See “workbench --help”.\n"
    assert cli.bare("lst").err == (
        "workbench: there is no command “lst”. Did you mean list? See “workbench --help”.\n"
    )
    assert (
        cli.bare("promote").err
        == "workbench: there is no command “promote”. See “workbench --help”.\n"
    )
    assert "an empty text names no folder" in cli.bare("--store", "", "list").err


def test_a_word_that_is_none_of_the_choices_is_met_with_the_nearest(cli: Cli) -> None:
    result = cli.bare("review", "aprove")
    assert (result.code, result.out) == (2, "")
    assert result.err.endswith("). Did you mean approve? See “workbench review --help”.\n")
    assert "Did you mean" not in cli.bare("review", "zzz").err


def test_the_way_in_returns_exit_codes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert __main__.main(["--help"]) == 0
    assert __main__.main(["nonsense"]) == 2
    assert __main__.main(["undo"]) == 2
    assert __main__.main(["status"]) == 0
    monkeypatch.setattr(sys, "argv", ["workbench", "status"])
    capsys.readouterr()
    assert __main__.main() == 0
    assert capsys.readouterr().out == "0 pending · 0 unseen\n"


@pytest.mark.parametrize(
    ("error", "code"), [(KeyboardInterrupt(), 130), (RuntimeError("boom\x1b[1m"), 70)]
)
def test_whatever_happens_ends_without_a_traceback(
    error: BaseException,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_arguments: object, **_options: object) -> int:
        raise error

    monkeypatch.setattr(__main__, "run", fail)
    assert __main__.main([]) == code
    said = capsys.readouterr().err
    if code == 70:
        assert said.startswith("workbench: internal error (RuntimeError: boom\\x1b[1m).")
        monkeypatch.setenv(crash.TRACEBACK, "1")
        with pytest.raises(RuntimeError):
            __main__.main([])
    else:
        assert said == "workbench: interrupted; what was stored before is safe.\n"
