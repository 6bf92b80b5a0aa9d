"""The command line as processes: what it imports, pipes that close, ctrl+c, folders that cannot be
written.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from tests.benchmarks.open import build
from tests.cli.conftest import Cli
from tests.cli.shared import ROOT, WORKBENCH, without_privileges, workbench

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
    code = (
        "import sys, json\n"
        "from workbench.__main__ import main\n"
        f"main({['--store', str(demo.store), *arguments]!r})\n"
        f"print(json.dumps([m for m in {banned!r} if m in sys.modules]), file=sys.stderr)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert json.loads(run.stderr.splitlines()[-1]) == []


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
    code = (
        "import sys, json\n"
        "from workbench.__main__ import main\n"
        f"main(['--store', {str(store)!r}, 'status'])\n"
        f"print(json.dumps([m for m in {(*HEAVY, *PROMPT)!r} if m in sys.modules]), file=sys.stderr)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert json.loads(run.stderr.splitlines()[-1]) == []


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
def test_exit_codes_reach_the_shell(tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    assert workbench("--store", store, "status").returncode == 2
    assert workbench("--store", store, "init").returncode == 0
    assert workbench("--store", store, "status").returncode == 0
    failed = workbench("--store", store, "import", "missing")
    assert (failed.returncode, failed.stdout) == (2, "")
    assert workbench("--nonsense").returncode == 2
    assert workbench().returncode == 2


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
    assert (stats["memories"], stats["unfinished"]) == (written, ["import many.jsonl"])
    assert workbench("--store", store, "undo").stdout == "Undone: import many.jsonl.\n"
    stats = json.loads(workbench("--store", store, "stats", "--json").stdout)
    assert (stats["memories"], stats["unfinished"]) == (0, [])


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
    prefix = without_privileges() or ()
    try:
        for command in (["status"], ["search", "deploy", "--json"]):
            run = workbench("--store", str(store), *command, prefix=prefix)
            assert (run.returncode, run.stderr) == (0, "")
        for command in (
            ["vote", "shr-00001", "helpful"],
            ["ingest", "x"],
            ["import", "fixtures/demo/queries.jsonl"],
        ):
            run = workbench("--store", str(store), *command, prefix=prefix)
            if run.returncode == 0:
                assert "nothing new" in run.stdout
                continue
            assert (run.returncode, run.stderr.count("\n")) == (2, 1)
            assert run.stderr.startswith(
                f"workbench: The store {store} cannot be written: permission denied."
            )
        run = workbench("--store", str(store / "inner"), "ingest", "x", prefix=prefix)
        assert (run.returncode, run.stdout, run.stderr.count("\n")) == (2, "", 1)
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
