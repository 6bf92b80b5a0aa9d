"""Arguments that are not text, and standard streams that are closed or full: one line, and the
usual exit codes.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = os.fsencode(sys.executable)
BARE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
"""A machine whose locale knows ASCII only."""

Done = subprocess.CompletedProcess[bytes]


def workbench(store: Path, *arguments: bytes, **environment: str) -> Done:
    command = [PYTHON, b"-m", b"workbench", b"--store", os.fsencode(store), *arguments]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, env={**os.environ, **environment}, check=False
    )


def through_shell(store: Path, line: str) -> Done:
    """Run a line of a shell in which `$W` is the program on the store."""
    program = f"exec '{sys.executable}' -m workbench --store '{store}' {line}"
    return subprocess.run(
        ["sh", "-c", program], cwd=ROOT, capture_output=True, stdin=subprocess.DEVNULL, check=False
    )


def one_line(run: Done, code: int = 2) -> str:
    assert (run.returncode, run.stdout) == (code, b"")
    said = run.stderr.decode()
    assert said.count("\n") == 1
    return said


@pytest.mark.slow
@pytest.mark.parametrize("environment", [{}, BARE], ids=["utf-8", "ascii"])
@pytest.mark.parametrize(
    "arguments",
    [
        (b"append", b"bad\xff byte"),
        (b"ingest", b"bad\xff byte"),
        (b"append", b"fine", b"--tag", b"\xff"),
        (b"append", b"fine", b"--actor", b"\xff"),
        (b"list", b"bad\xff"),
        (b"search", b"bad\xff"),
        (b"show", b"bad\xff"),
        (b"vote", b"bad\xff", b"helpful"),
        (b"undo", b"--actor", b"bad\xff"),
    ],
    ids=lambda words: b" ".join(words).decode("latin-1"),
)
def test_an_argument_that_is_no_text_is_refused(
    tmp_path: Path, arguments: tuple[bytes, ...], environment: dict[str, str]
) -> None:
    run = workbench(tmp_path / "store", *arguments, **environment)
    said = one_line(run)
    if b"--actor" not in arguments or b"append" in arguments:
        assert "is not UTF-8 text: byte 0xff at offset" in said
    assert not (tmp_path / "store" / "journal.jsonl").exists()


def test_utf_8_is_read_whatever_the_locale(tmp_path: Path) -> None:
    store = tmp_path / "store"
    assert workbench(store, b"append", "déjà vu".encode(), **BARE).returncode == 0
    assert "déjà vu" in workbench(store, b"list", PYTHONUTF8="1").stdout.decode()


UTF_8, OTHER = "é.jsonl".encode(), b"bad\xff.jsonl"


@pytest.mark.parametrize(
    ("name", "environment"),
    [
        pytest.param(UTF_8, BARE, id="utf-8 name-ascii"),
        pytest.param(OTHER, {}, id="other name-utf-8"),
        pytest.param(UTF_8, {}, id="utf-8 name-utf-8", marks=pytest.mark.slow),
        pytest.param(OTHER, BARE, id="other name-ascii", marks=pytest.mark.slow),
    ],
)
def test_files_of_any_name_are_read_and_written(
    tmp_path: Path, name: bytes, environment: dict[str, str]
) -> None:
    here, store = os.fsencode(tmp_path), tmp_path / "store"
    source = os.path.join(here, name)  # noqa: PTH118 - bytes
    with open(source, "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write('{"id": "a", "type": "error", "context": "deploys fail"}\n')
    for arguments in (
        (b"import", source),
        (b"lint", source),
        (b"scan", source),
        (b"convert", b"--to", b"jsonl", source, source + b".2"),
    ):
        run = workbench(store, *arguments, **environment)
        assert run.returncode in (0, 1), run.stderr
        assert b"unexpected" not in run.stderr
    assert (
        workbench(
            store, b"export", b"--format", b"jsonl", b"--out", source + b".3", **environment
        ).returncode
        == 0
    )
    assert os.path.exists(source + b".3")  # noqa: PTH110


CLOSED, FULL = "bad file descriptor", "no space left on device"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("list -n 0 >&-", f"stdout cannot be written: {CLOSED}"),
        pytest.param(
            "list -n 0 --json >&-", f"stdout cannot be written: {CLOSED}", marks=pytest.mark.slow
        ),
        ("stats >/dev/full", f"stdout cannot be written: {FULL}"),
        pytest.param(
            "list -n 0 >/dev/full", f"stdout cannot be written: {FULL}", marks=pytest.mark.slow
        ),
        ("list -n 0 --json >/dev/full", f"stdout cannot be written: {FULL}"),
        ("export --format jsonl >/dev/full", f"stdout cannot be written: {FULL}"),
        ("--help >/dev/full", f"stdout cannot be written: {FULL}"),
        ("append - <&-", f"stdin cannot be read: {CLOSED}"),
        pytest.param("ingest - <&-", f"stdin cannot be read: {CLOSED}", marks=pytest.mark.slow),
        ("scan - <&-", f"- cannot be read: {CLOSED}"),
    ],
)
def test_a_stream_that_is_closed_or_full_is_one_line(
    tmp_path: Path, filled: Path, line: str, said: str
) -> None:
    assert said in one_line(through_shell(filled, line))


def test_what_was_stored_before_it_could_not_be_said_is_stored(tmp_path: Path) -> None:
    store = tmp_path / "store"
    assert workbench(store, b"init").returncode == 0
    for number, (command, streams) in enumerate(
        [
            ("append", ">&-"),
            ("append", ">&- 2>&-"),
            ("append", ">/dev/full"),
            ("ingest", ">&- 2>&-"),
            ("ingest", ">&-"),
        ]
    ):
        run = through_shell(store, f"{command} 'deploys fail on friday {number}' {streams}")
        assert (
            run.returncode,
            f"friday {number}".encode() in workbench(store, b"list").stdout,
        ) == (0, True), streams
    refused = through_shell(store, "append 'deploys fail on friday 0' >&- 2>&-")
    assert refused.returncode == 2


def test_a_server_without_stdin_says_so(tmp_path: Path, filled: Path) -> None:
    run = through_shell(filled, "mcp <&-")
    assert (run.returncode, run.stdout) == (2, b"")
    assert b"stdin cannot be read" in run.stderr


@pytest.mark.parametrize(
    "closed",
    [
        "<&- >&- 2>&-",
        *(pytest.param(one, marks=pytest.mark.slow) for one in ("<&-", ">&-", "2>&-")),
    ],
)
def test_no_file_of_the_store_takes_the_place_of_a_closed_stream(
    tmp_path: Path, closed: str
) -> None:
    store = tmp_path / "store"
    for _ in range(2):
        assert through_shell(
            store, f"ingest 'deploys fail on friday {closed}' {closed}"
        ).returncode in (0, 2)
    run = workbench(store, b"doctor")
    assert run.returncode == 0, run.stdout
