"""Whatever is edited between import and export: what the edit was not about is there, byte for
byte.
"""

import random
import tempfile
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.formats.others import TEXTS
from tests.formats.samples import BARE, COUNTS, LOOSE
from tests.services.file_rounds import EDITS, Edit, Round, play
from workbench.config.paths import shipped
from workbench.core.files.formats import format_named
from workbench.services.demo import ANCHOR, fill
from workbench.services.files.exporting import Choice
from workbench.services.open import open_workbench

DEMO = shipped("fixtures/demo")
MEMORIES = (DEMO / "memories.jsonl").read_bytes().decode().splitlines(keepends=True)
PLAIN = ("json", "yaml", "csv", "markdown")
OWN = {
    "ace counts": ("playbook.txt", COUNTS, None),
    "ace bare": ("bare.txt", BARE, None),
    "ace loose": ("loose.txt", LOOSE, "ace"),
    "ace demo": ("demo.txt", (DEMO / "playbook.txt").read_bytes().decode(), None),
    "lifecycle": ("memories.jsonl", "".join(MEMORIES[::4]), None),
    "lifecycle of others": (
        "other.jsonl",
        'not an entry\n{"context":"No id, no time.","mood":1,"status":"open"}\n\n'
        '{ "id": "a", "timestamp": "2026-01-02", "context": "Odd", "x": null, "confidence": 0.50}\n[1]\n',
        "lifecycle",
    ),
    "queries": ("queries.jsonl", (DEMO / "queries.jsonl").read_bytes().decode(), None),
    "only a name": (
        "ERRORS.md",
        "# Errors\n\n### 2026-02-03 — Deploy failed\n- Set AUTH_SECRET first.\n",
        None,
    ),
}
FILES: dict[str, tuple[str, str, str | None]] = {
    **{name: (path.rpartition("/")[2], text, name) for name, (path, text) in TEXTS.items()
       if format_named(name).writes},
    **OWN,
}  # fmt: skip


@cache
def plain() -> dict[str, str]:
    """Return the demo store in the plain formats: its playbook, and every eighth of its memories."""
    with tempfile.TemporaryDirectory() as folder:
        bench = open_workbench(Path(folder) / "store", profiles=Path(folder), clock=lambda: ANCHOR)
        fill(bench, DEMO)
        with bench.library.transaction("human", "fewer") as tx:
            for memory in [m for place, m in enumerate(bench.library.memories.all()) if place % 8]:
                tx.delete(memory)
        texts = {
            f"{format} {what}": bench.exporter.render(format, Choice(book)).text
            for format in PLAIN
            for what, book in (("playbook", "playbook"), ("memories", None))
        }
        bench.close()
    return texts


def sample(name: str) -> tuple[str, str, str | None]:
    """Return a file's name, its text, and the format to ask for."""
    if name in FILES:
        return FILES[name]
    format, _, _ = name.partition(" ")
    suffix = {"markdown": "md"}.get(format, format)
    return f"plain.{suffix}", plain()[name], None


NAMES = (
    *sorted(FILES),
    *(f"{format} {what}" for format in PLAIN for what in ("playbook", "memories")),
)


def played(name: str, edit: Edit, seed: int) -> Round:
    """Play one round of a sample."""
    path, text, format = sample(name)
    with tempfile.TemporaryDirectory() as folder:
        return play(Path(folder), path, text.encode(), edit, random.Random(seed), format)


@pytest.mark.slow
@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("name", NAMES)
def test_nothing_else_goes(name: str, edit: Edit) -> None:
    done = played(name, edit, 7)
    assert (done.lines, done.values) == ((), ())


@given(name=st.sampled_from(NAMES), edit=st.sampled_from(EDITS), seed=st.integers(0, 10**6))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_nothing_else_goes_wherever_the_edit_is(name: str, edit: Edit, seed: int) -> None:
    done = played(name, edit, seed)
    assert (done.lines, done.values) == ((), ())


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_two_thousand_edits_lose_nothing(part: int) -> None:
    chance = random.Random()
    for _ in range(500):
        name, edit, seed = chance.choice(NAMES), chance.choice(EDITS), chance.randrange(10**6)
        done = played(name, edit, seed)
        assert (done.lines, done.values) == ((), ()), (name, edit, seed)
