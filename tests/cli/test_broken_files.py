"""Broken files of every format through the command line: a reason with a place, never a traceback,
nothing written.
"""

import random
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.formats.broken import SAMPLES, broken
from tests.formats.others import claude_mem_database
from workbench.core.files.formats import known_formats

FILES = 20
NAMES = [known.name for known in known_formats()]


def bytes_of(name: str, dice: random.Random, folder: Path) -> bytes:
    """Return a broken file of a format; a third of them are no longer UTF-8."""
    if name in SAMPLES:
        data = broken(SAMPLES[name], dice).encode()
    elif name == "claude-mem-db":
        data = claude_mem_database(folder / f"{dice.random()}.db").read_bytes()
        at = dice.randrange(len(data))
        return (
            data[:at]
            + dice.randbytes(dice.choice((1, 100, 4096)))
            + data[at + dice.choice((0, 1, 100)) :]
        )
    else:
        data = broken("q-1 Q0 mem-1 1 0.9 run\nq-1 Q0 mem-2 2 0.8 run\n", dice).encode()
    if dice.random() < 0.33:
        at = dice.randrange(len(data) + 1)
        data = (
            data[:at]
            + dice.choice((b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", b"\x00\x00"))
            + data[at:]
        )
    return data


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_broken_files_are_refused_with_a_place_and_a_reason(
    name: str, cli: Cli, tmp_path: Path
) -> None:
    dice = random.Random(f"through the door: {name}")
    path = cli.cwd / f"{name}.file"
    for _ in range(FILES):
        path.write_bytes(bytes_of(name, dice, tmp_path))
        said = cli("import", path.name, "--format", name, "--dry-run")
        assert said.code in (0, 2)
        assert "Traceback" not in said.err
        assert not cli.store.exists()
        for line in said.err.splitlines():
            assert path.name in line, line
            assert len(line.partition(path.name)[2]) > 8, line
            assert line.isprintable(), line
        if said.code == 2:
            assert said.out == ""
            assert cli("import", path.name, "--format", name).code == 2
            assert not cli.store.exists()
        else:
            assert f"{path.name}: " in said.out


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_broken_files_are_not_converted_into_nothing(name: str, cli: Cli, tmp_path: Path) -> None:
    dice = random.Random(f"converting: {name}")
    path = cli.cwd / "in.file"
    for _ in range(FILES):
        path.write_bytes(bytes_of(name, dice, tmp_path))
        said = cli.bare("convert", path.name, "out.json", "--from", name, "--to", "json")
        out = cli.cwd / "out.json"
        assert out.exists() == (said.code == 0)
        assert "Traceback" not in said.err
        out.unlink(missing_ok=True)
