"""The long proof of damage: 500 files spoiled at random, each command that then says less than the
truth says so.
"""

import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import NOW, Cli
from workbench.config.paths import heads_dir
from workbench.core.stream.memory import Memory
from workbench.services.open import open_workbench
from workbench.store.journal.engine import Options
from workbench.store.library import Library
from workbench.store.maintenance import backup

DAMAGES = 500
FILES = (
    "journal.jsonl",
    "journal.jsonl",
    "journal.jsonl",
    "memory.json",
    "checkpoint.json",
    "closed",
    "packed",
)

Spoil = Callable[[bytes, random.Random], bytes | None]


def flipped(data: bytes, chance: random.Random) -> bytes:
    """Turn one bit."""
    place = chance.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << chance.randrange(8)]) + data[place + 1 :]


def cut(data: bytes, chance: random.Random) -> bytes:
    """Cut the end off, at a line end or anywhere."""
    ends = [place + 1 for place, byte in enumerate(data[:-1]) if byte == 10]
    return (
        data[: chance.choice(ends)]
        if ends and chance.random() < 0.5
        else data[: chance.randrange(len(data))]
    )


def unended(data: bytes, chance: random.Random) -> bytes:
    """Lose the last line end, or some bytes before it."""
    return data[: -chance.randrange(1, 4)]


def zeroed(data: bytes, chance: random.Random) -> bytes:
    """Put zeros over the end, or behind it."""
    size = chance.randrange(1, min(len(data), 3000))
    return data[:-size] + b"\0" * size if chance.random() < 0.7 else data + b"\0" * size


def hollow(data: bytes, chance: random.Random) -> bytes:
    """Put zeros into the middle."""
    place, size = chance.randrange(len(data)), chance.randrange(1, 600)
    return data[:place] + b"\0" * len(data[place : place + size]) + data[place + size :]


def swapped(data: bytes, chance: random.Random) -> bytes:
    """Let two lines change places, or two halves where there is one line."""
    lines = data.splitlines(keepends=True)
    if len(lines) < 3:
        return data[len(data) // 2 :] + data[: len(data) // 2]
    one, other = chance.sample(range(len(lines)), 2)
    lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines)


def without_a_line(data: bytes, chance: random.Random) -> bytes:
    """Take a line out."""
    lines = data.splitlines(keepends=True)
    del lines[chance.randrange(len(lines))]
    return b"".join(lines)


def deleted(data: bytes, chance: random.Random) -> None:
    """Take the file away."""


def digit(data: bytes, chance: random.Random) -> bytes:
    """Change one digit into another one."""
    places = [place for place, byte in enumerate(data) if 48 <= byte <= 57]
    place = chance.choice(places)
    return (
        data[:place]
        + bytes([48 + (data[place] - 48 + chance.randrange(1, 10)) % 10])
        + data[place + 1 :]
    )


KINDS: tuple[Spoil, ...] = (
    flipped,
    flipped,
    cut,
    unended,
    zeroed,
    hollow,
    swapped,
    without_a_line,
    deleted,
    digit,
)


def make(folder: Path) -> None:
    """Make a store of some segments, one of them packed, with a checkpoint and changes after it."""
    options = Options(segment_bytes=3000, checkpoint_every=0)
    library = Library(folder, lambda: NOW, options, heads_dir())
    for number in range(24):
        with library.transaction("human", f"add {number}") as tx:
            name = tx.new_memory_id(NOW)
            tx.put(
                Memory(
                    name,
                    f"memory number {number} says what the build of module {number} needs",
                    NOW,
                    NOW,
                )
            )
        if number == 9:
            backup.compact(library.journal)
        if number == 15:
            library.journal.save_checkpoint()
    bench = open_workbench(folder, profiles=folder / "none", clock=lambda: NOW, heads=heads_dir())
    bench.library.journal.save_checkpoint()
    with bench.library.transaction("human", "one after the checkpoint") as tx:
        tx.put(Memory(tx.new_memory_id(NOW), "the one that came after the checkpoint", NOW, NOW))


def chosen(folder: Path, name: str, chance: random.Random) -> Path:
    """Return the file that is meant."""
    if name == "packed":
        return next(folder.glob("journal-*.gz"))
    return (
        chance.choice(sorted(folder.glob("journal-*.jsonl"))) if name == "closed" else folder / name
    )


def spoiled(folder: Path, chance: random.Random) -> tuple[str, str]:
    """Spoil one file and say which and how; its times differ from before, as a disk's or a
    program's doing would.
    """
    while True:
        path = chosen(folder, chance.choice(FILES), chance)
        data, kind = path.read_bytes(), chance.choice(KINDS)
        new = kind(data, chance)
        if new != data:
            break
    if new is None:
        path.unlink()
    else:
        before = path.stat().st_mtime_ns
        path.write_bytes(new)
        os.utime(path, ns=(before + 10**9, before + 10**9))
    return path.name, kind.__name__


def answers(cli: Cli) -> Iterator[tuple[str, str, str]]:
    """Ask what a person would ask; yield the command, what it said and what it said of the store."""
    for command in (
        ("list", "-n", "0", "--json"),
        ("history", "-n", "0", "--json"),
        ("stats", "--json"),
    ):
        result = cli(*command)
        assert "Traceback" not in result.out + result.err
        yield command[0], result.out if result.code == 0 else f"exit {result.code}", result.err


@pytest.mark.slow
def test_no_damage_is_silent(cli: Cli, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    make(cli.store)
    truth = {command: said for command, said, _ in answers(cli)}
    shutil.copytree(cli.store, whole)
    state = tmp_path / "heads"
    assert heads_dir() is not None
    shutil.copytree(str(heads_dir()), state)
    chance = random.Random(11)
    silent: list[tuple[object, ...]] = []
    for number in range(DAMAGES):
        shutil.rmtree(cli.store)
        shutil.copytree(whole, cli.store)
        what = spoiled(cli.store, chance)
        differs = False
        for command, said, remarks in answers(cli):
            if said != truth[command]:
                differs = True
                if not remarks:
                    silent.append((number, *what, command))
        result = cli("doctor", "--json")
        assert "Traceback" not in result.err
        if differs and result.code == 0:
            silent.append((number, *what, "doctor"))
        hooked(cli, silent, (number, *what))
        shutil.rmtree(str(heads_dir()))
        shutil.copytree(state, str(heads_dir()))
    assert silent == []


def hooked(cli: Cli, silent: list[tuple[object, ...]], what: tuple[object, ...]) -> None:
    """Add a memory to the spoiled store: what is said to be stored is read back, and nothing else
    is replaced.
    """
    before = (
        {m["id"]: m["content"] for m in json.loads(listed)}
        if (listed := cli("list", "-n", "0", "--json").out)
        else {}
    )
    result = cli("append", "what the hook saw in the end", "--json")
    if result.code != 0:
        if not result.err:
            silent.append((*what, "append"))
        return
    name = json.loads(result.out)["id"]
    after = {m["id"]: m["content"] for m in cli.told("list", "-n", "0")}
    if after != {**before, name: "what the hook saw in the end"} or name in before:
        silent.append((*what, "append", name))
