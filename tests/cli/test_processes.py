"""The command line as processes: what it imports and parses, bytes that are no text, streams that close, ctrl+c,
folders that cannot be written, and the installed command in a terminal.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import orjson
import pexpect
import pytest

from tests.benchmarks.stores import build
from tests.cli.conftest import Cli
from tests.cli.shared import (
    COMMAND,
    ROOT,
    WORKBENCH,
    loaded,
    memory,
    without_privileges,
    workbench,
)
from tests.demo import MEMORIES
from workbench.cli.progress import ProgressLine, waits_said
from workbench.config import paths
from workbench.core.files.locks import Holder, patience
from workbench.services.open import open_workbench
from workbench.store.journal import codec

HEAVY = ("textual", "rich.console", "model2vec", "anthropic", "tokenizers", "safetensors")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "banned"),
    [
        (["--help"], (*HEAVY, "numpy", "tinydb", "rapidfuzz")),
        (["--version"], (*HEAVY, "numpy", "tinydb", "rapidfuzz")),
        (["config", "show"], (*HEAVY, "numpy", "tinydb", "rapidfuzz")),
        (["help", "stream"], (*HEAVY, "numpy", "tinydb", "rapidfuzz")),
        (["status"], HEAVY),
        (["list"], HEAVY),
        (["vote", "mem-20260206-0000002", "helpful"], HEAVY),
        (["search", "deploy", "--json"], ("textual", "rich.console", "anthropic")),
    ],
)
def test_a_command_imports_only_what_it_needs(
    arguments: list[str], banned: tuple[str, ...], demo: Cli
) -> None:
    assert loaded(banned, "--store", str(demo.store), *arguments) == []


PROMPT = (
    "numpy", "tinydb", "rapidfuzz", "tomllib", "platformdirs", "shutil", "tempfile", "difflib", "gzip",
    "workbench.core.stream.memory", "workbench.core.review.proposal", "workbench.services.review.review",
    "workbench.services.health.history", "workbench.core.tuning.profile", "workbench.store.journal.reorder",
)  # fmt: skip
"""What a line for a shell prompt waits for nowhere: records, areas of the bench and libraries that
it does not need.
"""


@pytest.mark.slow
@pytest.mark.parametrize("indexed", [False, True])
def test_the_line_of_a_prompt_loads_no_record_and_no_area(indexed: bool, tmp_path: Path) -> None:
    store = tmp_path / "store"
    build(store, 2_500 if indexed else 3)
    workbench(
        "--store", str(store), "list", "-n", "1"
    )  # what is made once, its index among it, is there
    assert loaded((*HEAVY, *PROMPT), "--store", str(store), "status") == []


def test_the_app_that_opens_waits_for_no_command(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from workbench.cli.main import run\n"
        f"run(['--store', {str(tmp_path)!r}], open_app=lambda store, origin, demo=False: 0)\n"
        "print(*sorted(m for m in sys.modules if m.startswith('workbench.cli.')))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert set(run.stdout.split()) <= {
        f"workbench.cli.{name}"
        for name in ("main", "opening", "output", "parsing", "session", "verbs")
    }


@pytest.mark.slow
def test_a_reader_that_leaves_is_no_error(filled: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as out:
        process = subprocess.run(
            [*WORKBENCH, "--store", str(filled), "list", "-n", "999", "--json"],
            cwd=ROOT, stdout=out, stderr=subprocess.PIPE, check=False,
        )  # fmt: skip
    assert process.stderr == b""
    assert process.returncode == 141


def test_a_terminal_without_the_characters_gets_escapes(filled: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [*WORKBENCH, "--store", str(filled), "status"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, env=environment, check=True)
    assert b"14 pending \\xb7 " in run.stdout


@pytest.mark.slow
def test_ctrl_c_stops_an_import_between_chunks_and_undo_takes_it_back(tmp_path: Path) -> None:
    lines = (
        json.dumps({"id": f"m{i}", "type": "error", "context": f"thing {i} of many"})
        for i in range(25_000)
    )
    (tmp_path / "many.jsonl").write_text("\n".join(lines))
    store = str(tmp_path / "store")
    child = pexpect.spawn(
        WORKBENCH[0],
        [*WORKBENCH[1:], "--store", store, "import", str(tmp_path / "many.jsonl")],
        cwd=str(ROOT), encoding="utf-8", timeout=60, dimensions=(24, 100),
    )  # fmt: skip
    child.expect("of 25,000 · importing many.jsonl")
    child.sendintr()
    child.expect("The import of many.jsonl was stopped; ([0-9,]+) of 25,000 records were written")
    written = int(child.match.group(1).replace(",", ""))
    child.expect("`workbench undo` takes them back")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130
    assert 0 < written < 25_000
    stats = json.loads(workbench("--store", store, "stats", "--json").stdout)
    assert stats["memories"] == written
    assert stats["unfinished"] == ["import many.jsonl"]
    assert workbench("--store", store, "undo").stdout == "Undone: import many.jsonl.\n"
    stats = json.loads(workbench("--store", store, "stats", "--json").stdout)
    assert stats["memories"] == 0
    assert stats["unfinished"] == []


@pytest.mark.slow
@pytest.mark.skipif(
    without_privileges() is None, reason="file permissions do not hold for this user"
)
def test_a_read_only_store_can_be_read_and_not_changed(tmp_path: Path, filled: Path) -> None:
    store = tmp_path / "store"
    shutil.copytree(filled, store, ignore=shutil.ignore_patterns("cache"))
    paths = [store, *store.rglob("*")]
    before = {path: path.read_bytes() for path in paths if path.is_file()}
    for path in paths:
        path.chmod(path.stat().st_mode & 0o555)

    def run(*command: str, folder: Path = store) -> subprocess.CompletedProcess[str]:
        return workbench("--store", str(folder), *command, prefix=without_privileges() or ())

    try:
        for command in (["status"], ["search", "deploy", "--json"]):
            done = run(*command)
            assert done.returncode == 0
            assert done.stderr == ""
        for command in (["vote", "shr-00001", "helpful"], ["ingest", "x"]):
            done = run(*command)
            assert done.returncode == 2
            assert done.stderr.count("\n") == 1
            assert f"The store {store} cannot be written: permission denied." in done.stderr
        done = run("ingest", "x", folder=store / "inner")
        assert done.returncode == 2
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1
    finally:
        store.chmod(0o755)
    assert {path: path.read_bytes() for path in before} == before
    assert {path.name for path in store.iterdir()} == {path.name for path in before}


def test_a_table_keeps_its_columns_in_a_terminal_and_is_plain_text_elsewhere(demo: Cli) -> None:
    for text in ("شغّل الاختبارات قبل الدمج", "יש להריץ את הבדיקות 3.2"):
        demo.ok("append", text, "--tag", "عربي")
    listed = ("--store", str(demo.store), "list", "-n", "2")
    assert "\u200e" not in workbench(*listed).stdout
    wide = os.environ | {"COLUMNS": "200"}
    child = pexpect.spawn(
        WORKBENCH[0], [*WORKBENCH[1:], *listed], cwd=str(ROOT), encoding="utf-8", env=wide
    )
    shown = child.read().splitlines()
    child.close()
    rows = [row for row in shown if "\u200e" in row]
    assert [row.replace("\u200e", "").rstrip() for row in rows] == workbench(
        *listed
    ).stdout.splitlines()
    assert all(row.endswith("\u200e") for row in rows)


PYTHON = os.fsencode(sys.executable)


BARE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
"""A machine whose locale knows ASCII only."""


Done = subprocess.CompletedProcess[bytes]


def in_bytes(store: Path, *arguments: bytes, **environment: str) -> Done:
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
    assert run.returncode == code
    assert run.stdout == b""
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
    run = in_bytes(tmp_path / "store", *arguments, **environment)
    said = one_line(run)
    if b"--actor" not in arguments or b"append" in arguments:
        assert "is not UTF-8 text: byte 0xff at offset" in said
    assert not (tmp_path / "store" / "journal.jsonl").exists()


def test_utf_8_is_read_whatever_the_locale(tmp_path: Path) -> None:
    store = tmp_path / "store"
    assert in_bytes(store, b"append", "déjà vu".encode(), **BARE).returncode == 0
    assert "déjà vu" in in_bytes(store, b"list", PYTHONUTF8="1").stdout.decode()


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
        run = in_bytes(store, *arguments, **environment)
        assert run.returncode in (0, 1), run.stderr
        assert b"unexpected" not in run.stderr
    assert (
        in_bytes(
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
    assert in_bytes(store, b"init").returncode == 0
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
        assert run.returncode == 0
        assert f"friday {number}".encode() in in_bytes(store, b"list").stdout, streams
    refused = through_shell(store, "append 'deploys fail on friday 0' >&- 2>&-")
    assert refused.returncode == 2


def test_a_server_without_stdin_says_so(tmp_path: Path, filled: Path) -> None:
    run = through_shell(filled, "mcp <&-")
    assert run.returncode == 2
    assert run.stdout == b""
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
    run = in_bytes(store, b"doctor")
    assert run.returncode == 0, run.stdout


COUNT = 400


LARGE = 100_000
"""Bytes of JSON that are not of one record: the store has over a million of them."""


DAILY = (
    "status",
    "vote mem-7 helpful",
    "undo",
    "show mem-7",
    "search lesson",
    "history -n 1",
    "append one-more-lesson",
)


@pytest.fixture
def large(cli: Cli) -> Path:
    """A store that is large enough for a read index, has one, and was searched before."""
    bench = open_workbench(
        cli.store,
        profiles=paths.config_dir() / "profiles",
        cache=paths.cache_dir(),
        heads=paths.heads_dir(),
    )
    for begin in range(0, COUNT, 10):  # a line of the journal is read whole by who shows it
        with bench.library.transaction("human", "memories") as tx:
            for number in range(begin, begin + 10):
                tx.put(
                    memory(
                        f"mem-{number}",
                        f"lesson {number}: " + "keep the words apart " * 150,
                    )
                )
    bench.library.journal.save_checkpoint()
    bench.retriever.load()
    bench.keep_caches()
    bench.close()
    cli.ok("append", "the first one on this machine, which looks once for what was archived")
    assert (cli.store / "memory.json").stat().st_size > 10 * LARGE
    return cli.store


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many bytes each piece of JSON had that was parsed from the store's files."""
    sizes: list[int] = []

    def loads(data: bytes) -> object:
        sizes.append(len(data))
        return orjson.loads(data)

    monkeypatch.setattr(codec, "orjson", SimpleNamespace(**{**vars(orjson), "loads": loads}))
    return sizes


@pytest.mark.slow
@pytest.mark.parametrize("command", DAILY)
def test_a_daily_command_parses_no_large_store_whole(
    command: str, cli: Cli, large: Path, parsed: list[int]
) -> None:
    if command == "undo":
        cli.ok("vote", "mem-7", "helpful")
    if command.startswith("search"):
        cli.ok("append", "a lesson that came since the last search")
    cli.ok(*command.split())
    assert max(parsed, default=0) < LARGE


def test_what_checks_all_documents_parses_them(cli: Cli, large: Path, parsed: list[int]) -> None:
    assert cli("doctor").code == 0
    assert max(parsed) > LARGE


def test_only_long_work_in_a_terminal_says_how_many_a_second(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ProgressLine("x", 1)(5, 10)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    ProgressLine("x", 100)(5, 10)
    assert capsys.readouterr().err == ""
    times = iter([10.0, 12.0])
    line = ProgressLine("importing \x1b[31m", 100, lambda: next(times))
    line(3000, 6000)
    assert " 3,000 of 6,000 · importing ␛[31m · 1,500/s" in capsys.readouterr().err


def test_it_says_for_whom_what_was_paid_for_waits(capsys: pytest.CaptureFixture[str]) -> None:
    with waits_said():
        tell = patience().waits_for
        assert tell is not None
        tell(Holder(7, "python3"))
    assert capsys.readouterr().err == (
        "workbench: Another process (python3, 7) is writing to the store. "
        "The paid reply is stored when the store is free; ctrl+c twice discards it.\n"
    )


_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Z0-9]|P[^\x1b]*\x1b\\|[=>78])"
)


class Terminal:
    """A program in a terminal of its own; what it paints is read as text, without positions or
    colours.
    """

    def __init__(self, *arguments: str, folder: Path, size: tuple[int, int] = (45, 140)) -> None:
        self.environment = {**os.environ, "TERM": "xterm-256color", "TMPDIR": str(folder)}
        self.child = pexpect.spawn(
            COMMAND[0], [*COMMAND[1:], *arguments], cwd=str(ROOT), env=self.environment,
            encoding="utf-8", codec_errors="replace", timeout=120, dimensions=size,
        )  # fmt: skip
        self._painted = ""

    def press(self, key: str) -> None:
        """Send a key; only what is painted from now on counts."""
        self._painted = ""
        self.child.send(key)

    def shows(self, *texts: str) -> None:
        """Wait until every text was painted since the last key."""
        while not all(text in self._text() for text in texts):
            try:
                self._painted += self.child.read_nonblocking(1 << 16, timeout=120)
            except (pexpect.TIMEOUT, pexpect.EOF):
                missing = [text for text in texts if text not in self._text()]
                pytest.fail(f"{missing} did not appear in:\n{self._text()[-3000:]}")

    def ends(self) -> int | None:
        """Wait for the end and return the exit code."""
        self.child.expect(pexpect.EOF)
        self.child.close()
        code: int | None = self.child.exitstatus
        return code

    def _text(self) -> str:
        return re.sub(r"\s+", " ", _ESCAPES.sub(" ", self._painted))


def installed(*arguments: str) -> str:
    return subprocess.run(
        [*COMMAND, *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.slow
def test_the_demo_opens_shows_its_areas_and_leaves_nothing_behind(tmp_path: Path) -> None:
    terminal = Terminal("demo", folder=tmp_path)
    terminal.shows("1 Stream", f"{MEMORIES} memories", "Handover for next week")
    assert list(tmp_path.glob("workbench-demo-*/demo/journal.jsonl"))
    terminal.press("2")
    terminal.shows(" to decide")
    terminal.press("3")
    terminal.shows("STRATEGIES AND HARD RULES", "shr-00001")
    terminal.press("4")
    terminal.shows("Top 10 of", "importance", "AUTH_SECRET")
    terminal.press("?")
    terminal.shows("Keys · Tune")
    terminal.press("\x1b")
    terminal.shows("Top 10 of")
    terminal.press("q")
    assert terminal.ends() == 0
    # The alternate screen is left, the cursor shown again, and the temporary store gone.
    assert "\x1b[?1049l" in terminal.child.before
    assert "\x1b[?25h" in terminal.child.before
    assert list(tmp_path.iterdir()) == []


def test_what_is_done_in_the_app_is_in_the_store(tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    installed("demo", "--into", store)
    (newest,) = [
        line.split()[0] for line in installed("list", "-n", "1", "--store", store).splitlines()
    ]
    terminal = Terminal("--store", store, folder=tmp_path, size=(24, 80))
    terminal.shows(f"{MEMORIES} memories", "Handover for next week")
    terminal.press("+")
    terminal.shows(f"Voted helpful on {newest}.")
    terminal.press("q")
    assert terminal.ends() == 0
    assert f"vote helpful on {newest}" in installed("history", "-n", "1", "--store", store)
    assert installed("undo", "--store", store) == f"Undone: vote helpful on {newest}.\n"
    assert "last opened" in installed("stores", "--store", store)
    assert installed("status", "--store", store).endswith(" · 0 unseen\n")
