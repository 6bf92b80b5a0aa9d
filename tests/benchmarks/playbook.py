"""How long a playbook takes to open, to find its duplicates, and to be exported."""

import asyncio
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import TypeVar

from tests.tui.support import DEMO, app_over, import_file, open_bench
from workbench.core.text import one_line
from workbench.services.open import Workbench
from workbench.tui.playbook.screen import PlaybookScreen

TRAINED = "WORKBENCH_PLAYBOOK"
"""The environment variable that names a playbook file to measure with; without it one is made up."""

T = TypeVar("T")

OPEN_BAR_S, GROUPS_BAR_S = 0.5, 1.0


def run(*, small: bool) -> dict[str, object]:
    """Measure one playbook: the file that `WORKBENCH_PLAYBOOK` names, or 318 made-up bullets (30
    when `small`).
    """
    with tempfile.TemporaryDirectory() as folder:
        path = (
            Path(os.environ.get(TRAINED, ""))
            if os.environ.get(TRAINED)
            else _made_up(Path(folder), small)
        )
        bench = open_bench(Path(folder))
        import_file(bench, path)
        opened = asyncio.run(_opened(bench))
        book = bench.playbooks.books()[0].book.id
        same, same_s = _timed(lambda: bench.bullet_duplicates.same(book))
        bench.retriever.load()
        groups, first_s = _timed(lambda: bench.bullet_duplicates.groups(book))
        likeness, again_s = _timed(lambda: bench.bullet_duplicates.likeness(book))
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
    """Return the seconds from the key to the playbook on the screen, the screen built for the first
    time.
    """
    app = app_over(bench)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        start = time.perf_counter()
        await pilot.press("3")
        while not (
            isinstance(app.screen, PlaybookScreen)
            and app.screen.is_mounted
            and app.screen.rows.rows
        ):
            await asyncio.sleep(0)
        await pilot.pause()
        return round(time.perf_counter() - start, 3)


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    start = time.perf_counter()
    result = work()
    return result, round(time.perf_counter() - start, 3)


def _made_up(folder: Path, small: bool) -> Path:
    """Write a playbook of the demo's sentences, two a bullet, of which every tenth bullet stands
    twice.
    """
    docs = [json.loads(line) for line in (DEMO / "memories.jsonl").read_text("utf-8").splitlines()]
    sentences = sorted(
        {part.strip() for doc in docs for part in doc["context"].split(". ") if len(part) > 20}
    )
    random, texts = Random(1), list[str]()
    lines = ["## STRATEGIES AND HARD RULES"]
    for number in range(30 if small else 318):
        texts.append(
            texts[-1]
            if number % 10 == 9
            else ". ".join(one_line(s, 200) for s in random.sample(sentences, 2))
        )
        lines.append(
            f"[shr-{number + 1:05}] helpful={number % 4} harmful={number % 3} :: {texts[-1]}"
        )
    path = folder / "made-up.txt"
    path.write_text("\n".join([*lines, "", "## OTHERS", ""]), "utf-8")
    return path
