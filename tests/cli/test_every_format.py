"""Nothing is lost in silence: records in the file = records shown + records reported, for every
format.

The files of a folder of one's own are counted too when `WORKBENCH_FILES` names it.
"""

import os
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.formats.counting import BY_HAND, COUNTERS
from tests.formats.others import ROWS, TEXTS, claude_mem_database
from tests.formats.samples import BARE, COUNTS, GENAGENTS, NODES
from workbench.config.paths import shipped
from workbench.core.files.formats import detect
from workbench.core.record import WorkbenchError
from workbench.formats.opening import read_text

MORE = {
    "ace counts": ("playbook.txt", COUNTS),
    "ace bare": ("bare.txt", BARE),
    "genagents": ("memory_stream/nodes.json", GENAGENTS),
    "generative-agents": ("associative_memory/nodes.json", NODES),
}
_SHOWN = re.compile(r"^  \+ (?!playbook |section |judgment )", re.MULTILINE)
_SKIPPED = re.compile(r"^  ([\d,]+) records? skipped$", re.MULTILINE)


def account(cli: Cli, path: Path) -> tuple[int, int]:
    """Import a file into the empty store; return how many records were shown and how many reported."""
    dry = cli("import", str(path), "--dry-run")
    assert dry.code == 0, dry.err
    shown = len(_SHOWN.findall(dry.out))
    skipped = _SKIPPED.search(dry.out)
    assert cli("import", str(path)).code == 0
    stats = cli.told("stats")
    patterns = cli.told("pattern", "list")
    assert stats["memories"] + stats["bullets"] + stats["queries"] + len(patterns) == shown
    again = cli("import", str(path))
    assert "nothing new" in again.out
    assert dry.err.count("\n") >= bool(skipped)
    return shown, int(skipped[1].replace(",", "")) if skipped else 0


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*TEXTS, *MORE}))
def test_every_record_is_shown_or_reported(cli: Cli, name: str) -> None:
    file, text = {**TEXTS, **MORE}[name]
    path = cli.cwd / file
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode())
    format = name.partition(" ")[0]
    assert detect(path, text)[0].format == format
    held = BY_HAND[format] if format in BY_HAND else COUNTERS[format](text)
    assert held >= 2
    shown, reported = account(cli, path)
    assert shown + reported == held


def test_every_row_of_a_database_is_shown_or_reported(cli: Cli) -> None:
    shown, reported = account(cli, claude_mem_database(cli.cwd / "claude-mem.db"))
    assert shown + reported == len(ROWS) + 2  # and two prompts


@pytest.mark.slow
@pytest.mark.parametrize("name", ["memories.jsonl", "playbook.txt", "queries.jsonl"])
def test_the_demo_files_are_imported_whole(cli: Cli, name: str) -> None:
    path = shipped("fixtures/demo") / name
    text = path.read_text()
    held = COUNTERS[detect(path, text)[0].format](text)
    assert account(cli, path) == (held, 0)


def _own_files() -> list[Path]:
    """Return the files of known formats below the folder that the environment names."""
    folder = os.environ.get("WORKBENCH_FILES")
    if not folder:
        return []
    return [
        path
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file() and _format(path) in COUNTERS
    ]


def _format(path: Path) -> str:
    try:
        found = detect(path, read_text(path))
    except WorkbenchError:
        return ""
    return found[0].format if found else ""


@pytest.mark.skipif(not os.environ.get("WORKBENCH_FILES"), reason="WORKBENCH_FILES names no folder")
@pytest.mark.parametrize("path", _own_files(), ids=lambda path: path.name)
def test_ones_own_files_are_imported_without_a_silent_loss(cli: Cli, path: Path) -> None:
    held = COUNTERS[_format(path)](read_text(path))
    shown, reported = account(cli, path)
    print(f"{path.name}: {held} in the file = {shown} shown + {reported} reported")
    assert shown + reported == held
