"""`kill -9` of every command that writes, at any moment, over the real command line.

What was acknowledged is there, anything else is there as a whole or not at all, and the next write
of the same kind leaves nothing lying about. WORKBENCH_KILLS says how often each command is killed.
"""

import json
import os
import random
import re
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.cli.commands import Command
from tests.safety.samples import keys
from tests.store.helpers import NOON, clock
from workbench.cli.main import run
from workbench.config.paths import heads_dir
from workbench.core.stream.memory import Memory
from workbench.safety.secrets import marker
from workbench.store.files import open_lines
from workbench.store.journal.engine import Journal, Options
from workbench.store.library import Library
from workbench.store.maintenance.backup import Archive
from workbench.store.records import COUNTERS

pytestmark = pytest.mark.slow


KILLS = int(os.environ.get("WORKBENCH_KILLS", "3"))


SMALL = Options(segment_bytes=6_000, checkpoint_every=7)


SECRET = "the zebra of the north wall sleeps"


RULE, KEY = keys()["github"]


BOOK = "## RULES\n[r-00001] helpful=1 harmful=0 :: Ask first.\n[r-00002] helpful=0 harmful=2 :: Then act.\n"


TWINS = (
    "The deploy failed because the token of the registry had expired on Friday",
    "The deploy failed because the token of the registry expired on Friday",
)


_PASSING = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z|(import|export)-[0-9a-f]{12}|mem-\d{8}")


_HEX = re.compile(r"[0-9a-f]{16,}|\d{4,}")


@dataclass
class World:
    """A folder with a store, files beside it and a state folder of its own, which is put back for
    every round.
    """

    folder: Path
    kept: Path
    read: Callable[[], tuple[str, str]]

    @property
    def store(self) -> Path:
        """The store."""
        return self.folder / "store"

    def put_back(self) -> None:
        """Make everything as it was prepared, at the same path."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.kept, self.folder, symlinks=True)

    def run(self, *arguments: str) -> tuple[int, str, str]:
        """Run a command in this process."""
        try:
            code = run(arguments, open_app=_no_app, cwd=self.folder)
        except SystemExit as ended:
            code = int(ended.code or 0)
        return (code, *self.read())

    def ok(self, *arguments: str) -> str:
        """Run a command that has to succeed, and return what it printed."""
        code, out, err = self.run(*arguments)
        assert code == 0, (arguments, out, err)
        return out

    def on(self, *arguments: str) -> str:
        """Run a command on the store that has to succeed."""
        return self.ok("--store", str(self.store), *arguments)

    def names(self) -> set[str]:
        """Return the names of all files and folders, without what is different each time."""
        return {
            _HEX.sub("#", str(path.relative_to(self.folder))) for path in self.folder.rglob("*")
        }

    def looks(self) -> frozenset[tuple[str, int, int]]:
        """Return what tells whether something was written meanwhile."""
        found: list[tuple[str, int, int]] = []
        waiting = [str(self.folder)]
        while waiting:
            try:
                with os.scandir(waiting.pop()) as entries:
                    for entry in entries:
                        about = entry.stat(follow_symlinks=False)
                        found.append((entry.path, about.st_ino, about.st_mtime_ns))
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)
            except FileNotFoundError:
                continue
        return frozenset(found)


def _no_app(store: Path, *, origin: str, demo: bool = False, **more: object) -> int:
    raise AssertionError((store, origin, demo))


def records(store: Path) -> str:
    """Return all that a store holds, without the times and the numbers that are different each
    time.
    """
    if not (store / "journal.jsonl").exists():
        return ""
    journal = Journal(store, clock, COUNTERS, Options(checkpoint_every=0))
    tables = {name: docs for name, docs in journal.state.tables.items() if docs}
    assert not journal.damage
    text = json.dumps({"rev": journal.rev, "tables": tables}, sort_keys=True, ensure_ascii=False)
    return _PASSING.sub("#", text)


Facts = Mapping[str, str]
"""What a command may change, part by part."""


def in_store(world: World) -> Facts:
    return {"store": records(world.store)}


def in_store_and_file(world: World) -> Facts:
    return {**in_store(world), "file": (world.folder / "book.txt").read_text()}


def in_restored(world: World) -> Facts:
    return (
        {"new": records(world.folder / "new")}
        if (world.folder / "new").exists()
        else {"new": "none"}
    )


def in_backup(world: World) -> Facts:
    """Return what a backup says that it holds, read to its end."""
    file = world.folder / "b.tar.gz"
    if not file.exists():
        return {"backup": "none"}
    with file.open("rb") as handle:
        archive = Archive(handle)
        read = sum(len(block) for _, blocks in archive.members() for block in blocks)
        assert read == archive.manifest.size
        return {"backup": f"{archive.manifest.rev} {archive.manifest.counts}"}


def in_packed(world: World) -> Facts:
    """Packing changes no record: what every line of the journal says, whichever file it is in."""
    lines = b""
    for path in sorted(world.store.glob("journal-*")):
        if path.suffix == ".gz" or not path.with_name(f"{path.name}.gz").exists():
            with open_lines(path) as file:
                lines += file.read()
    return {"lines": lines.decode(), **in_store(world)}


def in_masked(world: World) -> Facts:
    """Masking changes no record but for the secret; broken off, it may have begun without an
    effect.
    """
    text = re.sub(r'"rev": \d+', "", records(world.store))
    return {"records": text.replace(KEY, marker(RULE))}


def in_project(world: World) -> Facts:
    made = world.folder / "project" / ".workbench"
    return {"made": records(made)}


def go_on(world: World) -> None:
    """Write something else; `append` loads no store, `vote` does."""
    world.on("append", "What was written after the kill")
    world.on("vote", "k-3", "helpful")


def export_again(world: World) -> None:
    world.on("export", "--format", "ace", "--out", "book.txt")
    assert "[r-00001] helpful=2" in (world.folder / "book.txt").read_text()


def force_again(world: World) -> None:
    """What was replaced on a person's word is kept, whenever the kill came."""
    world.on("export", "--format", "ace", "--out", "book.txt", "--force")
    copies = [path.read_text() for path in (world.folder / "state").rglob("replaced/*")]
    assert any("Somebody else's line." in text for text in copies)


def purge_again(world: World) -> None:
    """A purge that was broken off is said, and the doctor goes on with it; the text is nowhere
    then.
    """
    erase_again(world, "The purge of revision", SECRET)
    world.on("purge", "k-1", "--yes-erase", "k-1")
    assert not holds(world, SECRET)


def mask_again(world: World) -> None:
    erase_again(world, "The masking of secrets of revision", KEY)
    code, _, err = world.run("--store", str(world.store), "scan", "--mask")
    assert code == 0 or "No secret was found" in err, err
    assert not holds(world, KEY)


def erase_again(world: World, sentence: str, text: str) -> None:
    begun = '"kind":"purge"' in (world.store / "journal.jsonl").read_text()
    code, said, _ = world.run("--store", str(world.store), "doctor")
    assert code == (sentence in said)
    assert code or not (begun and holds(world, text))
    world.on("doctor", "--finish")
    assert not (begun and holds(world, text))


def holds(world: World, text: str) -> bool:
    """Tell whether a text is anywhere in the store, or in what was made of it."""
    places = [*world.store.rglob("*"), *(world.folder / "cache").rglob("*")]
    return any(path.is_file() and text.encode() in read_packed(path) for path in places)


def read_packed(path: Path) -> bytes:
    """Return what a file holds, unpacked if it is packed."""
    with open_lines(path) as file:
        return file.read()


def restore_again(world: World) -> None:
    if not (world.folder / "new").exists():
        world.ok("restore", "old.tar.gz", "new")
    world.ok("--store", str(world.folder / "new"), "append", "In the restored store")


def init_again(world: World) -> None:
    made = world.folder / "project" / ".workbench"
    code, _, err = world.run("init", "project")
    assert code == 0 or "already has a store" in err, err
    world.ok("--store", str(made), "append", "In the new store")
    assert (made / ".gitignore").exists()


def stranger(world: World) -> None:
    (world.folder / "book.txt").write_text(BOOK + "Somebody else's line.\n")


@dataclass(frozen=True)
class Writer:
    """A command: its arguments, what it prints once it is done, what it changes, and the next write
    of its kind.
    """

    name: str
    arguments: tuple[str, ...]
    says: str
    facts: Callable[[World], Facts] = in_store
    again: Callable[[World], object] = go_on
    before: Callable[[World], object] = lambda world: None
    on_store: bool = True
    # What is written in turn, the first part first: a later part is never there without the ones
    # before it.
    order: tuple[str, ...] = field(default=())


WRITERS = (
    Writer("append", ("append", "Build eight is red"), "Stored as"),
    Writer("ingest", ("ingest", "Build seven is red"), "Stored as"),
    Writer("vote", ("vote", "k-2", "helpful"), "Voted helpful"),
    Writer("import", ("import", "more.jsonl"), "new: 30 memories",
           again=lambda world: world.on("import", "more.jsonl", "book.txt")),
    Writer("export", ("export", "--format", "ace", "--out", "book.txt"), "was replaced",
           in_store_and_file, export_again, order=("file", "store")),
    Writer("export --force", ("export", "--format", "ace", "--out", "book.txt", "--force"), "was replaced",
           in_store_and_file, force_again, stranger, order=("file", "store")),
    Writer("undo", ("undo",), "Undone:"),
    Writer("compact", ("compact",), "→", in_packed, again=lambda world: world.on("compact")),
    Writer("purge", ("purge", "k-1", "--yes-erase", "k-1"), "Erased", again=purge_again),
    Writer("scan --mask", ("scan", "--mask"), "Masked 1 secret", in_masked, mask_again),
    Writer("backup", ("backup", "b.tar.gz", "--force"), "every byte checked", in_backup,
           lambda world: world.on("backup", "b.tar.gz", "--force")),
    Writer("backup over one", ("backup", "b.tar.gz", "--force"), "every byte checked", in_backup,
           lambda world: world.on("backup", "b.tar.gz", "--force"),
           lambda world: shutil.copy(world.folder / "old.tar.gz", world.folder / "b.tar.gz")),
    Writer("review approve", ("review", "approve", "MERGE"), "pproved"),
    Writer("restore", ("restore", "old.tar.gz", "new"), "Open it with", in_restored, restore_again, on_store=False),
    Writer("init", ("init", "project"), "The store is in", in_project, init_again, on_store=False),
)  # fmt: skip


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where a prepared world is kept; a world lives at `world` beside it."""
    return tmp_path_factory.mktemp("kills") / "kept"


@pytest.fixture
def world(
    prepared: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> World:
    def read() -> tuple[str, str]:
        out, err = capfd.readouterr()
        return out, err

    made = World(prepared.parent / "world", prepared, read)
    for kind in ("DATA", "CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(made.folder / kind.lower()))
    # A restored store came from elsewhere; all others are this machine's own, whenever a writer is
    # killed.
    monkeypatch.setenv("WORKBENCH_TRUST", str(made.folder / "new"))
    if not prepared.exists():
        _prepare(made)
        made.folder.rename(prepared)
    return made


def _prepare(world: World) -> None:
    """Make a store with closed journal files, a playbook that was read from a file, and a merge in
    Review.
    """
    world.folder.mkdir()
    library = Library(world.store, clock, SMALL, heads_dir())
    for number in range(1, 37):
        text = (
            SECRET
            if number == 1
            else f"The key is {KEY}"
            if number == 2
            else f"Thing {number} of many, {'said at length ' * number}"
        )
        with library.transaction("human", f"put {number}") as tx:
            tx.put(Memory(f"k-{number}", text, NOON, NOON))
    library.close()
    (world.folder / "project").mkdir()
    (world.folder / "book.txt").write_text(BOOK)
    rows = [{"id": f"n{n}", "type": "error", "context": f"entry {n} of a file"} for n in range(30)]
    twins = [{"id": f"t{n}", "type": "error", "context": text} for n, text in enumerate(TWINS)]
    for name, entries in (("more.jsonl", rows), ("twins.jsonl", twins)):
        (world.folder / name).write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    world.on("import", "book.txt", "twins.jsonl")
    world.on("dedup")
    world.on("backup", "old.tar.gz")
    world.on("vote", "r-00001", "helpful")


def arguments_of(world: World, writer: Writer) -> list[str]:
    store = ["--store", str(world.store)] if writer.on_store else []
    if "MERGE" not in writer.arguments:
        return [*store, *writer.arguments]
    waiting = world.on("review", "list")
    return [*store, *(waiting.split()[0] if word == "MERGE" else word for word in writer.arguments)]


@dataclass(frozen=True)
class Usual:
    """What a command does when nobody kills it: how long it takes, how often something is written,
    and what comes.
    """

    seconds: float
    writes: int
    before: Facts
    after: Facts
    names: frozenset[str]


def watch(world: World, process: Command, until: Callable[[int, float], bool]) -> int:
    """Look at the world until the process ends or `until`(writes seen, seconds) says so; return the
    writes seen.
    """
    begun, seen, last = time.monotonic(), 0, world.looks()
    while process.code is None and not until(seen, time.monotonic() - begun):
        now = world.looks()
        seen, last = seen + (now != last), now
    return seen


def measure(world: World, writer: Writer) -> Usual:
    world.put_back()
    writer.before(world)
    before, names = writer.facts(world), world.names()
    arguments = arguments_of(world, writer)
    begun = time.monotonic()
    process = Command(arguments, world.folder)
    writes = watch(world, process, lambda seen, waited: False)
    code, out, err = process.ended()
    seconds = time.monotonic() - begun
    assert code == 0, (out, err)
    assert writer.says in out, out
    after = writer.facts(world)
    names |= world.names()
    writer.again(world)
    go_on(world)
    return Usual(seconds, max(writes, 1), before, after, frozenset(names | world.names()))


def kill(world: World, writer: Writer, usual: Usual, chance: random.Random) -> tuple[bool, str]:
    """Start the command and kill it somewhere; return whether it had said that it is done, and what
    it printed.
    """
    arguments = arguments_of(world, writer)
    by_time = chance.random() < 0.25
    delay, place = chance.uniform(0, usual.seconds), chance.randint(1, usual.writes)
    process = Command(arguments, world.folder)
    watch(
        world,
        process,
        (lambda _, waited: waited >= delay) if by_time else (lambda seen, _: seen >= place),
    )
    if not by_time:
        time.sleep(chance.choice((0, 0, 0.0005, 0.003)))
    process.kill()
    code, out, err = process.ended()
    assert "Traceback" not in err
    return code == 0 or writer.says in out, out


def judged(writer: Writer, usual: Usual, now: Facts, acknowledged: bool) -> None:
    """Fail for half a change, and for a lost one."""
    if acknowledged or (now == usual.after and now != usual.before):
        assert now == usual.after, "acknowledged and lost"
        return
    done = [
        part for part in now if now[part] == usual.after[part] and now[part] != usual.before[part]
    ]
    not_done = [part for part in now if now[part] == usual.before[part] and part not in done]
    assert sorted(done + not_done) == sorted(now), "half a change"
    assert done == list(writer.order[: len(done)]), "parts in the wrong order"


@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.name)
def test_what_a_killed_command_leaves(world: World, writer: Writer) -> None:
    usual = measure(world, writer)
    seed = random.randrange(1 << 32)
    chance = random.Random(seed)
    for number in range(KILLS):
        world.put_back()
        writer.before(world)
        acknowledged, out = kill(world, writer, usual, chance)
        left = {name for name in world.names() if name not in usual.names}
        about = f"{writer.name}, seed {seed}, kill {number}: {out!r}, left {sorted(left)}"
        try:
            judged(writer, usual, writer.facts(world), acknowledged)
            code, said, problem = world.run("--store", str(world.store), "doctor")
            assert code == ("doctor --finish" in said), said + problem
            writer.again(world)
            go_on(world)
            assert world.names() <= usual.names, "leavings"
            assert world.run("--store", str(world.store), "doctor")[0] == 0
        except BaseException as error:
            error.add_note(about)
            raise
