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
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from time import perf_counter, process_time, thread_time
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from textual.screen import Screen

from tests.benchmarks.stores import ROOT, build, demo_sentences, own
from workbench.core.stream.memory import Memory
from workbench.core.tuning.profile import WORKBENCH, Profile
from workbench.retrieval.fulltext.lexical import LexicalIndex
from workbench.retrieval.ranking.cases import QueryScores
from workbench.retrieval.ranking.pool import Pool
from workbench.retrieval.ranking.ranker import Ranker
from workbench.services.open import Workbench, open_workbench
from workbench.store.library import Library

NOW = datetime(2026, 3, 20, 18, tzinfo=UTC)
TOP = 50
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
    Promise("95 of 100 steps of a slider until they are painted, ms", "painted_p95_ms", most=50),
    Promise("records stored in a second", "records_per_s", least=20_000),
    Promise("import of JSON lines, ms", "import_ms", is_cost=True),
    Promise("a store opens, s", "open_s", most=0.5),
    Promise("memory with a ranking, MB", "peak_mb", most=450),
    Promise("95 of 100 contexts for a task, ms", "context_p95_ms", most=100),
    Promise("consolidation of episodes, s", "consolidation_s", most=15),
    Promise("95 of 100 uses of a variable of a session, ms", "variable_p95_ms", most=1),
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
        "test_unchanged_means_the_same_bytes",
        "test_two_thousand_edits_lose_nothing",
    ),
    "undo of everything by anybody": (
        "test_an_action_is_one_change_of_the_person_undone_and_redone",
        "test_undo_takes_everything_back_step_by_step_and_redo_returns_it",
        "test_a_change_of_anybody_is_taken_back_by_its_revision",
    ),
    "no secret on disk or screen unmasked unless kept": (
        "test_no_field_that_a_change_introduces_keeps_a_secret", "test_no_command_prints_a_secret",
        "test_an_export_shows_no_secret_before_it_is_opened",
        "test_secrets_do_not_leave",
        "test_an_agent_is_given_no_secret_and_cannot_find_one_out",
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
    from workbench.config.paths import heads_dir

    for name, count in (("little", size // 10), ("big", size)):
        build(folder / name, count, heads_dir())
    shutil.copy(folder / "big" / "memory.json", folder / "plain.json")
    little, big = (Library(folder / name, heads=heads_dir()) for name in ("little", "big"))
    while True:
        before, syncs, sync = _lines(folder / "big"), list[int](), os.fsync
        with patch.object(
            os,
            "fsync",
            lambda handle, sync=sync, syncs=syncs: (syncs.append(handle), sync(handle))[1],
        ):
            _votes(big, 10)
        lines = _lines(folder / "big") - before
        taken = [(_votes(little, 1)[1], *_votes(big, 1)) for _ in range(100)]
        little_cpu, wall, cpu = map(statistics.median, zip(*taken, strict=True))
        yield {
            "vote_lines": lines / 10,
            "vote_syncs": len(syncs) / 10,
            "vote_times_stock": _stock_vote_ms(folder / "plain.json") / wall,
            "vote_growth": cpu / little_cpu,
            "vote_ms": cpu,
        }


def open_bench(folder: Path) -> Workbench:
    """Open the store of a folder."""
    return open_workbench(folder / "store", profiles=folder / "none", cache=folder / "cache")


def _lines(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.glob("*.jsonl"))


def _votes(library: Library, times: int) -> tuple[float, float]:
    """Vote on memories of a store; return ms of the clock and of this thread."""
    memories = library.memories.all()
    begun, spent = perf_counter(), thread_time()
    for turn in range(times):
        voted = library.memories.get(memories[turn * 37 % len(memories)].id)
        with library.transaction("human", "vote") as tx:
            tx.put(replace(voted, helpful_votes=voted.helpful_votes + 1))
    return 1000 * (perf_counter() - begun), 1000 * (thread_time() - spent)


def _stock_vote_ms(documents: Path) -> float:
    """Return the ms of one vote with TinyDB's own storage on the same documents."""
    from tinydb import JSONStorage, TinyDB

    with TinyDB(documents, storage=JSONStorage) as plain:
        begun = perf_counter()
        plain.table("memories").update({"helpful_votes": begun}, doc_ids=[1])
        return 1000 * (perf_counter() - begun)


def records(folder: Path, size: int) -> Iterator[Figures]:
    """Store records, import a file, and open a store in a process of its own."""
    opened = folder / "opened"
    build(opened / "store", size)
    home, count = own(opened / "store"), size // 10
    code = [sys.executable, "-c", OPENED, str(opened / "store")]
    rows = [{"text": f"Observation {n}: module {n % 977} failed."} for n in range(count)]
    (folder / "entries.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    while True:
        place, begun = Path(tempfile.mkdtemp(dir=folder)), perf_counter()
        build(place / "built", count)
        stored, bench = perf_counter(), open_bench(place)
        begun_cpu = process_time()
        bench.importer.carry_out(bench.importer.plan(folder / "entries.jsonl"))
        spent = process_time() - begun_cpu
        bench.close()
        found = subprocess.run(code, cwd=ROOT, env=home, check=True, capture_output=True, text=True)
        yield {
            "records_per_s": count / (stored - begun),
            "import_ms": 1000 * spent,
            **json.loads(found.stdout),
        }


OPENED = """
import json, resource, sys
from pathlib import Path
from time import perf_counter
from workbench.core.runtime import collect_seldom
collect_seldom()
from workbench.services.open import open_workbench
begun = perf_counter()
bench = open_workbench(Path(sys.argv[1]), profiles=Path(sys.argv[1]) / "none")
opened = perf_counter() - begun
bench.retriever.load()
tuning = bench.tuning
shown = [row.memory.line for row in tuning.rank("deploy to staging", tuning.default(), k=10).top]
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"open_s": opened, "peak_mb": peak}))
"""


def slider(_folder: Path, size: int) -> Iterator[Figures]:
    """Move the slider of a weight again and again."""
    random = np.random.default_rng(1)
    nothing = np.zeros((size, 0), np.float32)
    ranker = Ranker(_pool(size, random), nothing, LexicalIndex.build([]), lambda _: nothing[:0])
    dense, lexical = (random.beta(a, b, size).astype(np.float32) for a, b in ((2, 6), (1, 20)))
    scores = QueryScores("query", dense, lexical)

    def ranked(profile: Profile) -> object:
        return ranker.rank(scores, profile, NOW, TOP).ids

    ranked(WORKBENCH)
    while True:
        times = []
        for number in range(20):
            share = 0.05 + 0.9 * number / 20
            moved = replace(WORKBENCH, k=TOP, relevance=share, recency=1 - share)
            times.append(_ms(partial(ranked, moved)))
        yield {"slider_ms": statistics.median(times)}


def query(_folder: Path, size: int) -> Iterator[Figures]:
    """Ask new questions of texts of real words, by Zipf's law: some are in very many memories."""
    from workbench.retrieval.embedding.embedder import BUNDLED_FOLDER, Embedder

    random, embedder = np.random.default_rng(2), Embedder()
    known = json.loads((BUNDLED_FOLDER / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    words = sorted(word for word in known if word.isascii() and word.isalpha() and len(word) > 2)
    random.shuffle(words)
    chosen = np.minimum(random.zipf(1.3, (size, 25)), len(words)) - 1
    texts = [" ".join(words[place] for place in row) for row in chosen.tolist()]
    near, index = embedder.thesaurus().near, LexicalIndex.build(texts)
    pool, vectors = _pool(size, random), embedder.embed(texts)
    ranker = Ranker(pool, vectors, index, embedder.embed, related=near)

    def ranked(question: str) -> object:
        return ranker.rank(ranker.relevance(question), WORKBENCH, NOW, TOP).ids

    while True:
        asked = [" ".join(texts[i].split()[:6]) for i in random.integers(0, size, 20).tolist()]
        yield {"query_ms": statistics.median(_ms(partial(ranked, one)) for one in asked)}


def _pool(size: int, random: np.random.Generator) -> Pool:
    ages, grades = random.exponential(60, size).tolist(), random.integers(0, 11, size).tolist()
    return Pool.build(
        [
            Memory(
                f"m-{n:07d}", "text", at := NOW - timedelta(days=ages[n]), at,
                session_id=f"s-{n // 40}", importance_score=float(grades[n]),
            )
            for n in range(size)
        ]
    )  # fmt: skip


def _ms(work: Callable[[], object], clock: Callable[[], float] = perf_counter) -> float:
    begun = clock()
    work()
    return 1000 * (clock() - begun)


def paint(folder: Path, size: int) -> Iterator[Figures]:
    """Start the app, and an empty one, as processes in a terminal."""
    store = folder / "store"
    build(store, size)
    home = own(store)
    newest = max(Library(store).memories.all(), key=lambda one: (one.created_at, one.id))
    programs = {
        "empty": ([sys.executable, "-c", EMPTY], "first paint"),
        "ours": ([sys.executable, "-m", "workbench", "--store", str(store)], newest.line[:20]),
    }
    while True:
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in programs}
        for _ in range(3):
            for name, (command, text) in programs.items():
                found[name].append(_first_paint(command, re.escape(text), home))
        median = {name: statistics.median(wall for wall, _ in each) for name, each in found.items()}
        yield {
            "paint_ratio": median["ours"] / median["empty"],
            "paint_ms": 1000 * statistics.median(cpu for _, cpu in found["ours"]),
        }


EMPTY = """
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("first paint")
Empty().run()
"""


def _first_paint(command: list[str], text: str, home: Mapping[str, str]) -> tuple[float, float]:
    """Return the seconds until a program draws a text, and those of the processor until then."""
    import pexpect

    begun = perf_counter()
    child = pexpect.spawn(
        command[0], command[1:], dimensions=(45, 140), encoding="utf-8", timeout=60, env=home
    )
    child.expect(text)
    seconds = perf_counter() - begun
    used = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()
    child.sendcontrol("q")
    child.terminate(force=True)
    return seconds, (int(used[11]) + int(used[12])) / os.sysconf("SC_CLK_TCK")


def commands(folder: Path, size: int) -> Iterator[Figures]:
    """Run commands as whole processes, and an interpreter that imports what any of them needs."""
    build(folder / "store", size)
    home = own(folder / "store")
    ours = [sys.executable, "-m", "workbench", "--store", str(folder / "store")]
    asked = {
        "base": [sys.executable, "-c", BASE],
        "status": [*ours, "status"],
        "append": [*ours, "append", "the hook saw a step of the nightly build end"],
        "undo": [*ours, "undo"],
    }
    while True:
        spent: dict[str, list[float]] = {name: [] for name in asked}
        for number in range(6):
            for name, command in asked.items():
                before = _children_ms()
                subprocess.run(command, check=True, cwd=ROOT, env=home, capture_output=True)
                if number:  # the first fills the caches
                    spent[name].append(_children_ms() - before)
        cpu = {name: statistics.median(each) for name, each in spent.items()}
        yield {
            "append_ratio": cpu["append"] / cpu["base"],
            "append_ms": cpu["append"],
            "status_beyond_ms": cpu["status"] - 1.5 * cpu["base"],
            "status_ms": cpu["status"],
        }


BASE = "import argparse, dataclasses, datetime, hashlib, json, pathlib, re, typing"


def _children_ms() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (used.ru_utime + used.ru_stime)


def keys(folder: Path, size: int) -> Iterator[Figures]:
    """Press every key of every area."""
    from tests.benchmarks.keys import MOVES, WAYS, fill, press

    ways = WAYS if size > SMALL else {"1": f"{MOVES} question_mark escape"}
    while True:
        bench = open_bench(Path(tempfile.mkdtemp(dir=folder)))
        fill(bench, min(size, 5_000))
        pressed = asyncio.run(press(bench, ways))
        bench.close()
        stretches = sorted(times.stretch for _, times in pressed)
        helped = [times.busy for key, times in pressed if key == "StreamScreen question_mark"]
        yield {
            "keys_p95_ms": stretches[int(len(stretches) * 0.95)],
            "dialog_ms": statistics.median(helped),
        }


def painted(folder: Path, size: int) -> Iterator[Figures]:
    """Hold the key of each slider until its ranking is on the screen."""
    questions = build(folder / "store", size)
    with closing(open_bench(folder)) as bench:
        judged = bench.library.memories.all()[0].id
        for question in questions[:12]:  # so that each step has a verdict
            bench.judging.judge(question, None, judged, 3)
    while True:
        bench = open_bench(folder)
        times = sorted(asyncio.run(_painted(bench)))
        bench.close()
        yield {"painted_p95_ms": times[int(len(times) * 0.95)]}


async def _painted(bench: Workbench) -> list[float]:
    from tests.benchmarks.keys import go_to, held, watched
    from workbench.tui.tuning.screen import TuneScreen
    from workbench.tui.widgets.bars import Slider

    times = []
    async with watched(bench) as (app, busy):
        await go_to(app, "4", busy)
        while not (isinstance(app.screen, TuneScreen) and app.screen.session.ranking):
            await busy.until_quiet()
        screen = app.screen
        for name in ("recency", "relevance", "half-life-episodic", "blend"):
            screen.query_one(f"#slider-{name}", Slider).focus()
            await busy.until_quiet()
            for number in range(20):
                before = screen.session.ranking
                busy.shows = partial(_is_ranked_anew, before)
                key = ("right", "left")[number // 5 % 2]
                times.append(await held(app, key, busy))
    return [ms for ms in times if ms]  # a slider at its end stays as it is


def _is_ranked_anew(before: object, screen: Screen[Any]) -> bool:
    from workbench.tui.tuning.screen import TuneScreen

    return isinstance(screen, TuneScreen) and screen.session.ranking is not before


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

    while True:
        changed = 0
        for path, text in files(shipped("fixtures/demo"), []):
            place = Path(tempfile.mkdtemp(dir=folder))
            (place / path.name).write_bytes(text)
            bench = open_bench(place)
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


def experience(folder: Path, size: int) -> Iterator[Figures]:
    """Make contexts among many memories, episodes and patterns, consolidate them, and use the
    working memory of a session.
    """
    from workbench.services.agents.context import gathered

    build(folder / "store", size)
    chance, episodes, sentences = Random(1), size // 10, demo_sentences()
    with patch("os.fsync"), closing(open_bench(folder)) as bench:
        for start in range(0, episodes, 500):
            numbers = range(start, min(episodes, start + 500))
            bench.episodes.store_all([_episode(n, chance.choice(sentences)) for n in numbers])
        learned = [_pattern(n, chance.choice(sentences)) for n in range(episodes // 10)]
        bench.patterns.add(learned)
        bench.retriever.load()
        bench.keep_caches()
    while True:
        place = Path(tempfile.mkdtemp(dir=folder)) / "store"
        shutil.copytree(folder / "store", place)
        with patch("os.fsync"), closing(open_bench(place.parent)) as bench:
            agent = replace(bench.context, actor="agent:bench")
            bench.retriever.load()
            make = partial(gathered, agent, bench.tuning, bench.playbooks)
            tasks = [chance.choice(sentences) for _ in range(20)]
            make("What was read once is kept.")
            times = sorted(
                _ms(partial(make, one, error=f"TimeoutError: {one}"), process_time) for one in tasks
            )
            yield {
                "context_p95_ms": times[int(len(times) * 0.95)],
                "consolidation_s": _ms(bench.consolidating.carry_out, process_time) / 1000,
                "variable_p95_ms": _variable_ms(bench),
            }


def _episode(number: int, task: str) -> dict[str, object]:
    status = ("SUCCESS", "PARTIAL", "FAILURE")[number % 3]
    failed = {"failures_analyzed": [{"error": f"TimeoutError: {task}"}]} if number % 3 == 2 else {}
    return {
        "timestamp": (NOW - timedelta(days=35, hours=number % 600)).isoformat(),
        "task": {"original_input": task},
        "execution": {"duration": number % 90},
        "outcome": {"status": status, "primary_output": "It answers."},
        "reflection": failed,
        "metadata": {"domain": f"d{number % 40}", "task_type": f"t{number % 25}"},
    }


def _pattern(number: int, text: str) -> dict[str, object]:
    return {
        "name": f"{text[:40]} {number}",
        "category": ("strategy", "recovery", "failure", "domain")[number % 4],
        "summary": text,
        "applicability": {
            "problem_types": [f"t{number % 25}"],
            "task_features": {"domain": [f"d{number % 40}"]},
        },
        "lifecycle": {"status": "validated"},
    }


def _variable_ms(bench: Workbench) -> float:
    """Return what setting and reading a variable of a nearly full working memory take."""
    from workbench.agent.memory import Memory as AgentMemory

    working = AgentMemory(bench, "bench", "s1").working
    working.init("Add JWT authentication to auth.py. Tests must pass.")
    for number in range(6):
        working.add_intermediate(f"subtask_{number}", "word " * 1_000)
    times = []
    for number in range(1_000):
        name = f"known_{number % 200}"
        times.append(
            _ms(partial(working.set, name, f"a value of some words {number}"), thread_time)
        )
        times.append(_ms(partial(working.get, name), thread_time))
    return sorted(times)[int(len(times) * 0.95)]


PROBES: Mapping[str, Callable[[Path, int], Iterator[Figures]]] = {
    probe.__name__: probe
    for probe in (
        vote, records, slider, query, paint, commands, keys, painted, dialog, export, experience,
    )
}  # fmt: skip
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


def judged(
    now: Figures, before: Figures | None = None, promises: Sequence[Promise] = PROMISES
) -> list[dict[str, object]]:
    """Return each promise with its figure and whether it is kept; `ok` of a cost is told beside the
    former one.
    """
    rows = []
    for what, name, most, least, is_cost in promises:
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
    with suppress(BrokenPipeError):  # an older commit may not have the probe
        process.stdin.write("next\n")
        process.stdin.flush()
    if not (line := process.stdout.readline()):
        if what.endswith("(before)"):
            return {}
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
