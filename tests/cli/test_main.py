"""The edges of the command line: `--store` in both places, wrong stores, help with examples that are taken,
one table of exit codes, and what ends a run.
"""

import re
import shlex
import sys
from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, Result
from tests.cli.shared import names
from workbench import __main__, __version__, crash
from workbench.cli.main import build_parser

COMMANDS = {name.partition(" ")[0] for name in names(build_parser())}


WIDE = "200"
"""Columns in which no example is broken."""


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
    for command in ("status", "ingest x", "import file", "undo"):
        result = cli.bare("--store", "file", *command.split())
        assert result.code == 2
        assert result.out == ""
        assert "“file” is a file, not a store." in result.err
    assert cli.bare("--store", "file/store", "ingest", "x").code == 2
    assert (cli.cwd / "file").read_text() == "words"


def test_the_global_store_is_made_on_first_use_without_a_word(cli: Cli) -> None:
    result = cli.bare("ingest", "The first thing ever noticed")
    assert result.code == 0
    assert result.err == ""
    assert result.out == "Stored as mem-20260320-0000001, importance 5.\n"
    assert cli.bare("status").out == "0 pending · 1 unseen\n"


def test_version_and_help(cli: Cli) -> None:
    assert cli.bare("--version") == Result(0, f"workbench {__version__}\n", "")
    helped = cli.bare("--help")
    assert helped.code == 0
    assert helped.err == ""
    every = helped.out.partition("by task:")[2]
    assert COMMANDS - {"help"} <= set(every.replace(",", " ").split())


def test_an_unknown_command_is_one_sentence(cli: Cli) -> None:
    for words, said in ((("remember",), ""), (("lst",), "Did you mean list? ")):
        result = cli.bare(*words)
        assert result.code == 2
        assert result.out == ""
        assert result.err == (
            f"workbench: there is no command “{words[0]}”. {said}See “workbench --help”.\n"
        )
    assert "the folder is empty text" in cli.bare("--store", "", "list").err


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


def examples(parser: ArgumentParser) -> list[str]:
    """Return the calls of a command that its help shows: lines of their own, of which a shell would
    take a part.
    """
    own = re.compile(rf"^  ({re.escape(parser.prog)}(?: [^>\n]*[^>\s])?)(?: > \S+)?$", re.MULTILINE)
    return own.findall(parser.format_help())


def test_every_command_shows_a_call_of_it_that_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", WIDE)
    whole = build_parser()
    shown = {one.prog: examples(one) for one in parsers(whole)}
    assert len(shown) > 90
    assert [prog for prog, calls in shown.items() if not calls] == []
    for prog, calls in shown.items():
        for call in calls:
            taken = whole.parse_args(shlex.split(call)[1:])
            assert taken.prog.startswith(prog), call


def parsers(parser: ArgumentParser) -> Iterator[ArgumentParser]:
    """Yield the parser of every command, those below a command too."""
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            for below in action.choices.values():
                yield below
                yield from parsers(below)
