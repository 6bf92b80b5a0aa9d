"""What a person is at in the app when it is killed: the keys of each change, what the app says of
it, what is there.

Nothing here knows how or when the app is killed (`test_killed`).
"""

import json
import re
import shutil
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from tests.store.helpers import NOON
from tests.tui.support import DEMO
from workbench.config.drafts import FOLDER as DRAFTS
from workbench.config.drafts import Draft, Item, folder_of, keep
from workbench.config.paths import config_dir, heads_dir, state_dir
from workbench.config.recent import LastBackup, remember_backup
from workbench.core.files.replacing import replace_file
from workbench.core.stream.memory import Memory
from workbench.core.tuning.profile import BUILT_IN
from workbench.services.health.backup import back_up
from workbench.services.open import Workbench, open_workbench
from workbench.store.maintenance.backup import restore

MEMORIES = 40
CANDIDATES = 12
BROUGHT = 30
"""Memories in each file that can be imported."""

FILES = 8
EARLY = NOON - timedelta(days=9)
LOADED = "what was loaded"
TYPED = " and more was typed of it"
RULES = (
    "## HARD RULES\n[hr-00001] helpful=9 harmful=1 :: Never write to production without asking.\n"
)
EXPORTED = "out.txt"


class Step(NamedTuple):
    """Keys, the expression that tells in what is painted after them that the app did it, and
    whether they store it.

    Nobody waits for an empty expression.
    """

    keys: str
    seen: str = ""
    stores: bool = False


@dataclass(frozen=True)
class Doing:
    """One thing that a person does again and again.

    `to` leads to where it is done; `change(n)` are the steps of the nth time, counted from 0.
    `said` finds in what was painted what the app says is stored; `there` tells what is, in the same
    words, and asserts that nothing is there by half. `again` writes once more what a kill may have
    left behind beside the store; `whole` says how many changes are made to their end, at least and
    at most, before the one that is cut off.
    """

    to: tuple[Step, ...]
    change: Callable[[int], tuple[Step, ...]]
    said: str
    there: Callable[[Workbench], set[str]]
    again: Callable[[Workbench], object] = lambda bench: None
    whole: tuple[int, int] = (0, 3)


def profiles() -> Path:
    return config_dir() / "profiles"


def reopened(store: Path) -> Workbench:
    return open_workbench(store, profiles=profiles(), heads=heads_dir())


def make(project: Path) -> Path:
    """Make a project with a store, and files that can be imported; return the store. No drafts or
    profiles are left.
    """
    for folder in (profiles(), state_dir() / DRAFTS):
        shutil.rmtree(folder, ignore_errors=True)
    project.mkdir()
    (project / "rules.txt").write_text(RULES, "utf-8")
    bench = reopened(project / ".workbench")
    bench.importer.carry_out(bench.importer.plan(project / "rules.txt"))
    # The stream begins with the latest.
    times = [NOON - timedelta(minutes=number) for number in range(MEMORIES)]
    with bench.library.transaction("human", LOADED) as tx:
        for number, at in enumerate(times):
            tx.put(Memory(f"k-{number}", f"Thing {number} of many", at, at))
        for number in range(CANDIDATES):
            tx.put(
                Memory(
                    f"c-{number}",
                    f"Idea {number}, said in {number} words",
                    EARLY,
                    EARLY,
                    status="candidate",
                )
            )
    bench.close()
    for number in range(FILES):
        (project / f"f{number}.jsonl").write_text("\n".join(_lines(number)), "utf-8")
    return project / ".workbench"


def _lines(file: int) -> list[str]:
    return (
        (DEMO / "memories.jsonl")
        .read_text("utf-8")
        .splitlines()[file * BROUGHT : (file + 1) * BROUGHT]
    )


def _votes(bench: Workbench) -> set[str]:
    every = bench.library.memories.all()
    voted = {memory.id for memory in every if memory.helpful_votes}
    assert voted == {vote.target for vote in bench.library.votes.all()}
    return {f"Pinned {m.id}" for m in every if m.pinned} | {
        f"Voted helpful on {id}" for id in voted
    }


def _edited(bench: Workbench) -> set[str]:
    edited = set()
    for number in range(MEMORIES):
        content = bench.stream.get(f"k-{number}").content
        assert content in (f"Thing {number} of many", f"Thing {number} of many{TYPED}"), content
        if content.endswith(TYPED):
            edited.add(f"Saved k-{number}")
    return edited


def _keep_draft(bench: Workbench) -> None:
    """Keep a draft as an editor does, and let go of it."""
    drafts = folder_of(state_dir(), bench.library.folder)
    assert not keep(drafts, Item("memories/other"), Draft("something", "", NOON))


def _imported(bench: Workbench) -> set[str]:
    there = {memory.id for memory in bench.library.memories.all()}
    counts = [
        len(there & {json.loads(line)["id"] for line in _lines(number)}) for number in range(FILES)
    ]
    assert set(counts) <= {0, BROUGHT}, counts
    return {f"Imported f{number}.jsonl" for number, count in enumerate(counts) if count}


def _tuned(bench: Workbench) -> set[str]:
    files = [*profiles().glob("[!.]*.toml"), *(bench.library.folder / "cache").rglob("[!.]*.toml")]
    assert all(tomllib.loads(file.read_text("utf-8")) for file in files)
    saved = {
        f"Saved {name}" for name in bench.tuning.profiles.names() if bench.tuning.profiles.get(name)
    }
    taken = {f"Snapshot {snapshot.name} is taken" for snapshot in bench.tuning.snapshots.all()}
    return saved | taken | ({"Saved the query"} if bench.library.queries.all() else set())


def _save_settings(bench: Workbench) -> None:
    after = replace(BUILT_IN[0], name="after", relevance=0.123)
    bench.tuning.profiles.save(after, NOON, "")
    bench.tuning.snapshots.take(after, NOON)


def _exported(bench: Workbench) -> set[str]:
    """Return what the file was called if it is there; it is whole then."""
    file = bench.library.folder.parent / EXPORTED
    if not file.exists():
        return set()
    text = file.read_text("utf-8")
    assert re.fullmatch(
        RULES.replace("9", r"\d+").replace("1 ::", r"\d+ ::").replace("[", r"\[") + "\n?", text
    ), text
    return {f"Wrote {EXPORTED}"}


def _export(bench: Workbench) -> None:
    replace_file(bench.library.folder.parent / EXPORTED, RULES)


def _back_up(bench: Workbench) -> None:
    for number in range(FILES):
        made, _ = back_up(
            bench, file := bench.library.folder.parent / f"b{number}.tar.gz", NOON, force=True
        )
    remember_backup(state_dir(), bench.library.folder, LastBackup(file, NOON, made.rev))


def _backed_up(bench: Workbench) -> set[str]:
    folder = bench.library.folder.parent
    for file in folder.glob("*.tar.gz"):
        restore(file, folder / f"{file.name}-out")
    return {CHECKED} if any(folder.glob("*.tar.gz")) else set()


ENDED = "the app ended"
"""In place of an expression: the app is waited for until it ended."""

DRAFT = "a draft is kept"
"""In place of an expression: what is typed is waited for until it is kept in a file."""

STREAM = (Step("1g"),)
SAVE = "\x13"
CHECKED = "every byte checked"
"""What is said of a backup; its name may be too long for a line."""


def _named(name: str) -> tuple[Step, ...]:
    """Return how another name is written in the place of the one that a dialog offers."""
    return (Step("\x01"), Step("\x0b", "file to write"), Step(name, re.escape(name)))


def _voting(number: int) -> tuple[Step, ...]:
    plus = Step("+", f"Voted helpful on k-{2 * number + 1}\\b", stores=True)
    return (Step("p", stores=True), Step("j"), plus, Step("j"))


def _editing(number: int, *pause: Step) -> tuple[Step, ...]:
    typed = (Step("e", f"Edit k-{number}\\b"), Step(TYPED, "changed"))
    return (*typed, *pause, Step(SAVE, f"Saved k-{number}\\b", stores=True), Step("j"))


def _importing(number: int) -> tuple[Step, ...]:
    named = (Step("F", "Import a file"), Step(f"f{number}.jsonl", "New: "))
    return (*named, Step(SAVE, rf"Imported f{number}\.jsonl", stores=True))


def _tuning(number: int) -> tuple[Step, ...]:
    query = () if number else (Step("Q", "Saved the query", stores=True), Step("\t"))
    snapshot = Step("n", f"Snapshot {'ABCD'[number]} is taken", stores=True)
    save = (Step("s", "Save"), Step(f"own {number}"), Step("\r", r"Saved \S", stores=True))
    return (*query, Step("\x1b[C"), snapshot, *save)


def _exporting(number: int) -> tuple[Step, ...]:
    vote = Step("+-"[number % 2], "Voted", stores=True)
    return (vote, Step("X", r"\.txt"), *_named(EXPORTED), Step(SAVE, "Wrote", stores=True))


def _backing_up(number: int) -> tuple[Step, ...]:
    named = (Step("b", r"\.tar\.gz"), *_named(f"b{number}.tar.gz"))
    return (*named, Step(SAVE, CHECKED, stores=True), Step("\x1b", "Back|History"))


DOINGS = {
    "votes": Doing(STREAM, _voting, r"(?:Pinned|Voted helpful on) k-\d+\b", _votes),
    "votes, then leaving": Doing(
        STREAM,
        lambda n: _voting(n) if n < 3 else (Step("q", ENDED, stores=True),),
        r"(?:Pinned|Voted helpful on) k-\d+\b",
        _votes,
        whole=(3, 3),
    ),
    "edits": Doing(STREAM, _editing, r"Saved k-\d+\b", _edited, _keep_draft),
    "edits, with a draft": Doing(
        STREAM,
        lambda n: _editing(n, Step("", DRAFT, stores=True)),
        r"Saved k-\d+\b",
        _edited,
        _keep_draft,
    ),
    "import": Doing(STREAM, _importing, r"Imported f\d\.jsonl", _imported),
    "tune": Doing(
        (Step("4", "Advanced"), Step("/"), Step("thing\r", "Thing")),
        _tuning,
        r"Saved own \d+|Saved the query|Snapshot [A-Z] is taken",
        _tuned,
        _save_settings,
    ),
    "export": Doing(
        (Step("3g", "hr-00001"), Step("j")), _exporting, r"Wrote \S+?\.txt", _exported, _export
    ),
    "backup": Doing((Step("6g", "History"),), _backing_up, CHECKED, _backed_up, _back_up),
}


def drafts() -> tuple[str, ...]:
    """Return every text that is kept as a draft."""
    files = [path for path in (state_dir() / DRAFTS).glob("*/*") if not path.name.startswith(".")]
    return tuple(str(json.loads(path.read_text("utf-8"))["text"]) for path in files)
