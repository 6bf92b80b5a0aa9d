"""How long a playbook takes to open, to find its duplicates, and to be exported."""

import asyncio
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from tests.tui.support import app_over, import_file, open_bench
from workbench.bench.workbench import Workbench
from workbench.tui.screens.playbook import PlaybookScreen

TRAINED = "WORKBENCH_PLAYBOOK"
"""The environment variable that names a playbook file to measure with; without it one is made up."""

T = TypeVar("T")

OPEN_BAR_S, GROUPS_BAR_S = 0.5, 1.0

_TOPICS = ("login", "paging", "payment", "playlist", "alarm", "calendar", "note", "queue", "file", "review")
_DOS = ("Always read the docs of", "Check every page of", "Never guess the fields of", "Verify the answer of",
        "Use the access token for")  # fmt: skip


def run(*, small: bool) -> dict[str, object]:
    """Measure one playbook: the file that `WORKBENCH_PLAYBOOK` names, or 318 made-up bullets (30 when `small`)."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(os.environ.get(TRAINED, "")) if os.environ.get(TRAINED) else _made_up(Path(folder), small)
        bench = open_bench(Path(folder))
        import_file(bench, path)
        opened = asyncio.run(_opened(bench))
        book = bench.playbooks.books()[0].book.id
        same, same_s = _timed(lambda: bench.refiner.same(book))
        bench.retriever.load()
        groups, first_s = _timed(lambda: bench.refiner.groups(book))
        likeness, again_s = _timed(lambda: bench.refiner.likeness(book))
        _, move_s = _timed(lambda: likeness.groups(0.85))
        _, export_s = _timed(lambda: bench.exporter.ace(book))
        figures: dict[str, object] = {
            "bullets": len(bench.playbooks.open(book).bullets),
            "open_s": opened,
            "equal_s": same_s,
            "exact_groups": sum(g.kind == "exact" for g in same),
            "ignoring_case_groups": len(same),
            "near_groups": sum(g.kind == "near" for g in groups),
            "contradictions": sum(g.kind == "opposed" for g in groups),
            "alike_groups": sum(g.kind == "apart" for g in groups),
            "all_groups_s": first_s,
            "all_groups_again_s": again_s,
            "threshold_moved_s": move_s,
            "export_s": export_s,
            "within_the_bars": opened <= OPEN_BAR_S and first_s <= GROUPS_BAR_S,
        }
        bench.close()
    return figures


async def _opened(bench: Workbench) -> float:
    """Return the seconds from the key to the playbook on the screen, the screen built for the first time."""
    app = app_over(bench)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        start = time.perf_counter()
        await pilot.press("3")
        while not (isinstance(app.screen, PlaybookScreen) and app.screen.is_mounted and app.screen.rows.rows):
            await asyncio.sleep(0)
        await pilot.pause()
        return round(time.perf_counter() - start, 3)


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    start = time.perf_counter()
    result = work()
    return result, round(time.perf_counter() - start, 3)


def _made_up(folder: Path, small: bool) -> Path:
    """Write a playbook of which every tenth bullet stands twice."""
    lines, count = ["## STRATEGIES AND HARD RULES"], 30 if small else 318
    for number in range(count):
        about = number - 1 if number % 10 == 9 else number
        text = f"{_DOS[about % 5]} the {_TOPICS[about % 10]} API, step {about}, before {_TOPICS[about * 7 % 10]}."
        lines.append(f"[shr-{number + 1:05}] helpful={number % 4} harmful={number % 3} :: {text}")
    path = folder / "made-up.txt"
    path.write_text("\n".join([*lines, "", "## OTHERS", ""]))
    return path
