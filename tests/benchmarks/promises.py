"""The promises: what was measured of each, its bar, and whether it is kept; also of two commits in
turns.

Each is measured in rounds by a process of its own, in the time of the processor where that tells
it, and the medians of the rounds count. With `--against COMMIT` that commit is measured round by
round in turns with what stands here, in a worktree of its own, with its own benchmarks: a cost is
kept when it is not a tenth higher. `--small` shows that it runs: its stores are too small for most
bars.

A promise without a figure has tests, which `TESTS` names.
"""

import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

ROOT = Path(__file__).parents[2]
ROUNDS = 5
WORSE = 1.1
"""How much of its former cost something may have."""

Figures = dict[str, float]


class Promise(NamedTuple):
    """What is promised of a figure: the most it may be, or the least; without either it is only
    compared.
    """

    what: str
    figure: str
    most: float | None = None
    least: float | None = None
    is_cost: bool = False
    """Whether it is compared with that of another commit: a time, or a ratio that is as steady as
    one.
    """


PROMISES = (
    Promise("lines of the log that a vote writes", "vote_lines", most=1),
    Promise("files that a vote syncs", "vote_syncs", most=1),
    Promise("votes in the time of one vote of plain TinyDB", "vote_times_stock", least=1000),
    Promise("a vote, to one in a store of a tenth of the size", "vote_growth", most=1.3),
    Promise("a vote, ms", "vote_ms", is_cost=True),
    Promise("a step of a slider, ms", "slider_ms", most=3, is_cost=True),
    Promise("from a query to its ranking, ms", "query_ms", most=60, is_cost=True),
    Promise("first paint, to that of an empty app", "paint_ratio", most=3),
    Promise("work until the first paint, ms", "paint_ms", is_cost=True),
    Promise("append, to a bare Python", "append_ratio", most=2),
    Promise("append, ms", "append_ms", is_cost=True),
    Promise("status beyond 1.5 times a bare Python, ms", "status_beyond_ms", most=20),
    Promise("status, ms", "status_ms", is_cost=True),
    Promise("95 of 100 keys at a stretch, ms", "keys_p95_ms", most=100, is_cost=True),
    Promise("help opens, ms", "dialog_ms", is_cost=True),
    Promise("places at which a dialog is painted", "dialog_frames", most=1),
    Promise("bytes of unchanged files that an export changes", "export_bytes", most=0),
)

TESTS: Mapping[str, tuple[str, ...]] = {
    "acknowledged is stored after kill -9": (
        "test_what_a_killed_command_leaves", "test_what_a_killed_app_leaves",
        "test_what_can_be_neither_made_durable_nor_taken_back_is_said_to_be_unknown",
    ),
    "a torn tail is repaired and said": (
        "test_a_torn_last_line_is_dropped_and_told_once", "test_a_journal_cut_at_any_byte_of_its_last_three_lines",
    ),
    "edits by others are offered, not overwritten": (
        "test_a_plain_tinydb_edit_is_offered_and_nothing_is_overwritten",
        "test_an_edit_nobody_decided_on_is_set_aside_and_still_offered",
    ),
    "keys of others survive": (
        "test_they_stay_when_their_record_is_changed_and_that_is_undone_and_done_again",
        "test_they_are_there_as_they_were_written_also_in_a_backup",
    ),
    "keys typed without a gap": (
        "test_words_typed_fast_reach_what_the_key_before_them_opens",
        "test_words_behind_tab_in_a_form_go_into_the_next_field",
        "test_esc_in_one_go_with_a_key_that_opens_a_form_leaves_it",
    ),
    "a dialog in one frame": ("test_a_dialog_stands_where_it_is_seen_at_first",),
    "byte-exact export": (
        "test_an_imported_file_comes_out_with_the_same_bytes", "test_unchanged_means_the_same_bytes",
        "test_two_thousand_edits_lose_nothing",
    ),
    "undo of everything by anybody": (
        "test_an_action_is_one_change_of_the_person_undone_and_redone",
        "test_undo_takes_everything_back_step_by_step_and_redo_returns_it",
        "test_a_change_of_anybody_is_taken_back_by_its_revision",
    ),
    "no secret on disk or screen unmasked unless kept": (
        "test_no_field_that_a_change_introduces_keeps_a_secret", "test_no_command_prints_a_secret",
        "test_an_export_shows_no_secret_before_it_is_opened", "test_secrets_do_not_leave",
    ),
    "nothing unreviewed is served unmarked": (
        "test_what_an_agent_wrote_is_served_in_a_block_that_names_it",
        "test_what_nobody_approved_stands_in_a_block_that_no_text_can_end",
    ),
    "rankings and words as recorded": ("test_what_is_recorded_holds",),
}  # fmt: skip
"""The tests of promises, wherever they stand; the quality of retrieval has benchmarks:
`rank_quality`, `languages`.
"""


# Measured, one round after the other


def vote(folder: Path, size: int) -> Iterator[Figures]:
    """Vote in a store, in one of a tenth of its size, and with plain TinyDB."""
    from tests.benchmarks.store import NOW, fill, stock_vote_ms, vote_in_turn
    from workbench.config.paths import heads_dir
    from workbench.store.library import Library

    little, _ = fill(folder / "little", size // 10)
    fill(folder / "big", size)[0].close()
    shutil.copy(folder / "big" / "memory.json", folder / "plain.json")
    big = Library(folder / "big", lambda: NOW, heads=heads_dir())
    while True:
        before, syncs, sync = _lines(folder / "big"), list[int](), os.fsync
        with patch.object(
            os,
            "fsync",
            lambda handle, sync=sync, syncs=syncs: (syncs.append(handle), sync(handle))[1],
        ):
            vote_in_turn(big, big, folder / "probe", 5)
        taken = vote_in_turn(little, big, folder / "probe", 100)
        yield {
            "vote_lines": (_lines(folder / "big") - before - 100) / 10,
            "vote_syncs": (len(syncs) - 5) / 10,  # the bare file is synced as well
            "vote_times_stock": stock_vote_ms(folder / "plain.json", folder / "stock.json", size, 1)
            / taken["big"],
            "vote_growth": taken["big_cpu"] / taken["little_cpu"],
            "vote_ms": taken["big_cpu"],
        }


def _lines(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.glob("*.jsonl"))


def slider(_folder: Path, size: int) -> Iterator[Figures]:
    """Move a slider again and again."""
    from tests.benchmarks.rank_speed import slider_steps

    while True:
        yield {"slider_ms": slider_steps(size, 20)["step_ms"]}


def query(_folder: Path, size: int) -> Iterator[Figures]:
    """Ask new questions."""
    from tests.benchmarks.rank_speed import asked

    for times in asked(size, 20):
        yield {"query_ms": statistics.median(times)}


def paint(folder: Path, size: int) -> Iterator[Figures]:
    """Start the app, and an empty one."""
    from tests.benchmarks.cli import own
    from tests.benchmarks.open import build
    from tests.benchmarks.start import EMPTY, first_paint, newest

    build(folder / "store", size)
    home = own(folder / "store")
    programs = {
        "empty": ([sys.executable, "-c", EMPTY], "first paint"),
        "ours": (
            [sys.executable, "-m", "workbench", "--store", str(folder / "store")],
            newest(folder / "store")[0],
        ),
    }
    while True:
        times: dict[str, list[float]] = {name: [] for name in programs}
        spent: dict[str, list[float]] = {name: [] for name in programs}
        for _ in range(3):
            for name, (command, text) in programs.items():
                times[name].append(first_paint(command, text, surroundings=home, spent=spent[name]))
        wall = {name: statistics.median(each) for name, each in times.items()}
        yield {
            "paint_ratio": wall["ours"] / wall["empty"],
            "paint_ms": 1000 * statistics.median(spent["ours"]),
        }


def commands(folder: Path, size: int) -> Iterator[Figures]:
    """Run commands as whole processes."""
    from tests.benchmarks.cli import in_turns, own, turn_of
    from tests.benchmarks.open import build

    build(folder / "store", size)
    home = own(folder / "store")
    turn = partial(turn_of, folder / "store", names=("status", "append", "undo"))
    while True:
        cpu = in_turns(turn, home, 5)["cpu_ms"]
        yield {
            "append_ratio": cpu["append"] / cpu["base"],
            "append_ms": cpu["append"],
            "status_beyond_ms": cpu["status"] - 1.5 * cpu["base"],
            "status_ms": cpu["status"],
        }


def keys(_folder: Path, size: int) -> Iterator[Figures]:
    """Press every key of every area over ordinary texts."""
    from tests.benchmarks.keys import MOVES, PROSE, WAYS, in_process

    ways = WAYS if size > SMALL else {"1": (*MOVES, "question_mark", "escape")}
    while True:
        pressed = in_process(PROSE, 2_000, ways)
        stretches = sorted(times.stretch for _, times in pressed)
        helped = [times.busy for key, times in pressed if key == "StreamScreen question_mark"]
        yield {
            "keys_p95_ms": stretches[int(len(stretches) * 0.95)],
            "dialog_ms": statistics.median(helped),
        }


def dialog(folder: Path, _size: int) -> Iterator[Figures]:
    """Open dialogs and look where they are painted."""
    while True:
        place = Path(tempfile.mkdtemp(dir=folder))
        yield {
            "dialog_frames": max(
                asyncio.run(_places(place / key, key)) for key in ("question_mark", "e")
            )
        }


async def _places(folder: Path, key: str) -> int:
    """Return at how many places a dialog was painted since its key, until it rests."""
    from textual.screen import Screen

    from tests.tui.support import demo_app
    from workbench.tui.app.area import AreaScreen
    from workbench.tui.widgets.dialog import Dialog

    app, places, paint = demo_app(folder), set[object](), Screen._compositor_refresh

    def painting(screen: Screen[object]) -> None:
        paint(screen)
        if (
            isinstance(screen, Dialog)
            and screen is app.screen
            and screen.query_one(".dialog").region.area
        ):
            places.add(screen.query_one(".dialog").region)

    with patch.object(Screen, "_compositor_refresh", painting):
        async with app.run_test(size=(140, 45)) as pilot:
            while not (isinstance(app.screen, AreaScreen) and app.screen.focused):
                await pilot.pause(0.05)
            await pilot.press(key)
            await pilot.pause(1)
            return len(places)


def export(folder: Path, _size: int) -> Iterator[Figures]:
    """Bring the demo's files in and write them out again."""
    from tests.benchmarks.files import files
    from tests.services.file_rounds import kind_of
    from workbench.config.paths import shipped
    from workbench.services.files.exporting import Choice
    from workbench.services.open import open_workbench

    while True:
        changed = 0
        for path, text in files(shipped("fixtures/demo"), []):
            place = Path(tempfile.mkdtemp(dir=folder))
            (place / path.name).write_bytes(text)
            bench = open_workbench(place / "store", profiles=place / "profiles")
            plan = bench.importer.plan(place / path.name)
            bench.importer.carry_out(plan)
            kind = kind_of(plan.parsed.format, path)
            assert kind is not None
            book = (
                next((b.id for b in bench.library.books.all()), None)
                if plan.parsed.playbooks
                else None
            )
            out = bench.exporter.render(kind.name, Choice(book), place / path.name).text
            if (
                bench.exporter.preview(place / path.name, out, kind=kind).obstacle is None
            ):  # else the file is kept
                data = out.encode()
                changed += sum(a != b for a, b in zip(data, text, strict=False)) + abs(
                    len(data) - len(text)
                )
            bench.close()
        yield {"export_bytes": changed}


PROBES: Mapping[str, Callable[[Path, int], Iterator[Figures]]] = {
    probe.__name__: probe for probe in (vote, slider, query, paint, commands, keys, dialog, export)
}
SMALL = 2_000


# Judged


def run(small: bool = False, against: str = "") -> dict[str, object]:
    """Return every promise with its figure, its bar and whether it is kept, beside that of another
    commit.
    """
    size, rounds = (SMALL, 2) if small else (100_000, ROUNDS)
    found: dict[str, dict[str, list[float]]] = {}
    with ExitStack() as stack:
        sides = {"now": ROOT}
        if against:
            sides["before"] = stack.enter_context(_worktree(against))
        for probe in PROBES:
            for name, value, side in _in_rounds(probe, size, rounds, sides):
                found.setdefault(side, {}).setdefault(name, []).append(value)
    medians = {
        side: {name: statistics.median(each) for name, each in held.items()}
        for side, held in found.items()
    }
    return {
        "memories": size,
        "rounds": rounds,
        "promises": judged(medians["now"], medians.get("before")),
    }


def judged(now: Figures, before: Figures | None = None) -> list[dict[str, object]]:
    """Return each promise with its figure and whether it is kept; `ok` of a cost is told beside the
    former one.
    """
    rows = []
    for what, name, most, least, is_cost in PROMISES:
        row: dict[str, object] = {"promise": what, "figure": round(now[name], 3)}
        kept = []
        if most is not None or least is not None:
            row["bar"] = f"≤ {most:g}" if most is not None else f"≥ {least:g}"
            kept.append((least or now[name]) <= now[name] <= (now[name] if most is None else most))
        if before is not None and is_cost and name in before:
            row |= {"before": round(before[name], 3), "ratio": round(now[name] / before[name], 3)}
            kept.append(now[name] <= WORSE * before[name])
        rows.append(row | ({"ok": all(kept)} if kept else {}))
    return rows


def _in_rounds(
    probe: str, size: int, rounds: int, sides: Mapping[str, Path]
) -> Iterator[tuple[str, float, str]]:
    """Yield the figures of a probe with their side, each round of one side behind one of the other."""
    with tempfile.TemporaryDirectory(prefix="bench-promises-") as folder, ExitStack() as stack:
        started = {}
        for side, root in sides.items():
            (place := Path(folder) / side).mkdir()
            homes = {
                f"XDG_{kind}_HOME": str(place / kind.lower())
                for kind in ("CONFIG", "DATA", "STATE", "CACHE")
            }
            started[side] = stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-m", "tests.benchmarks.promises", probe, str(size), str(place)],
                    cwd=root, env={**os.environ, **homes, "HOME": str(place), "PYTHONPATH": str(root)}, text=True,
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                )
            )  # fmt: skip
        for number in range(rounds):
            for side in sorted(started, reverse=number % 2 == 1):
                for name, value in _next_round(started[side], f"{probe} ({side})").items():
                    yield name, value, side
        for process in started.values():
            process.communicate()


def _next_round(process: "subprocess.Popen[str]", what: str) -> Figures:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("next\n")
    process.stdin.flush()
    if not (line := process.stdout.readline()):
        raise SystemExit(f"{what} ended without a figure.")
    figures: Figures = json.loads(line)
    return figures


@contextmanager
def _worktree(commit: str) -> Iterator[Path]:
    """Check a commit out beside this one."""
    with tempfile.TemporaryDirectory(prefix="bench-commit-") as folder:
        place = Path(folder) / "checkout"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(place), commit], check=True)
        try:
            if not (place / "tests" / "benchmarks" / "promises.py").exists():
                raise SystemExit(f"{commit} does not have this benchmark.")
            yield place
        finally:
            subprocess.run([*git, "remove", "--force", str(place)], check=True)


def _serve(probe: str, size: int, folder: Path) -> None:
    """Measure one round for each line that comes in."""
    figures = PROBES[probe](folder, size)
    for _ in sys.stdin:
        print(json.dumps(next(figures)), flush=True)


if __name__ == "__main__":
    _serve(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
