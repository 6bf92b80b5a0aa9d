"""Secrets of every kind in what dialogs show before anything is written: a marker stands for each."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from tests.safety.fresh import KINDS, Fresh, fresh
from tests.services.conftest import put, ungated
from tests.tui.playbook_host import opened as playbook
from tests.tui.support import NOW, app_over, import_file, open_bench, screen_text
from tests.tui.test_every_field_masked import Secrets, imported
from tests.tui.tune_host import tune
from tests.tui.waiting import until, until_drawn
from workbench.core.stream.memory import Memory
from workbench.services.open import Workbench
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.duplicates import DuplicatesDialog
from workbench.tui.files.exports import ExportDialog
from workbench.tui.files.imports import ImportDialog
from workbench.tui.files.preview import Pane
from workbench.tui.files.section import FindingsDialog, WholeFile
from workbench.tui.health.screen import HealthScreen
from workbench.tui.tuning.judging import Better, JudgeDialog, MetricsDialog
from workbench.tui.widgets.dialog import Choose
from workbench.tui.widgets.line_list import LineView

ALL = fresh("every dialog")
TALL = (200, 130)
"""A screen on which whatever a dialog lists is in sight."""


def held(kinds: dict[str, Fresh], text: str) -> list[str]:
    """Return the kinds whose secret, or how it ends or goes on, stands in a text."""
    parts = {name: (one.secret[-8:], one.secret[-18:-10]) for name, one in kinds.items()}
    return [
        name
        for name, some in parts.items()
        if any(len(part) == 8 and part in text for part in some)
    ]


def book(kinds: dict[str, Fresh]) -> str:
    """Return a playbook with a bullet for each kind, as they came from elsewhere."""
    return "## RULES\n" + "".join(
        f"[r-{n:05}] helpful=1 harmful=0 :: Use {one.text} there.\n"
        for n, one in enumerate(kinds.values(), 1)
    )


def block() -> str:
    """Return a private key over several lines, as it stands in a file."""
    return "\n".join(json.loads(ALL["openssh key"].text)["k"].split("\\n"))


@asynccontextmanager
async def app_on(
    bench: Workbench, size: tuple[int, int] = TALL
) -> AsyncIterator[tuple[WorkbenchApp, Pilot[Path | None]]]:
    app = app_over(bench)
    async with app.run_test(size=size) as pilot:
        await until_drawn(pilot, lambda: app.bench.tuning.ready)
        yield app, pilot


async def test_an_export_shows_no_secret_before_it_is_opened(tmp_path: Path) -> None:
    bench = open_bench(tmp_path)
    source = tmp_path / "rules.txt"
    source.write_text(book(ALL))
    import_file(bench, source)
    with ungated(bench):
        bench.playbooks.edit("rules", "r-00001", f"Now {ALL['gitlab'].text} instead.")
    source.write_text(
        book(ALL).replace("[r-00003] helpful=1", "[r-00003] helpful=2") + f"# {block()}\n"
    )
    async with playbook(bench, TALL) as hand:
        await hand.press("X")
        dialog = await hand.dialog(ExportDialog)
        for key in ("ctrl+t", "ctrl+n", "ctrl+t"):
            assert held(ALL, hand.text) == [], key
            assert "[secret: " in hand.text
            await hand.press(key)
        assert "in the text shows it." in hand.text
        dialog.query_one("#export-whole", Pane).focus()
        await hand.press("o")
        assert len(held(ALL, hand.text)) > len(KINDS) - 5
        await hand.press("o")
        assert held(ALL, hand.text) == []


@pytest.mark.slow
async def test_a_long_export_is_looked_through_before_it_is_shown(tmp_path: Path) -> None:
    bench, secret = open_bench(tmp_path), ALL["github"].secret
    lines = "".join(
        f"[r-{n:05}] helpful=1 harmful=0 :: {'word ' * 60}{n}.\n" for n in range(1, 500)
    )
    (tmp_path / "rules.txt").write_text(
        f"## RULES\n[r-00999] helpful=1 harmful=0 :: Use {secret}.\n{lines}"
    )
    import_file(bench, tmp_path / "rules.txt")
    async with playbook(bench) as hand:
        await hand.press("X")
        dialog = await hand.dialog(ExportDialog)
        pane = dialog.query_one("#export-whole", Pane)
        await until_drawn(hand.pilot, lambda: len(pane.rows) > 500)
        await hand.press("ctrl+t")
        assert "Use [secret: " in hand.text
        assert secret[:8] not in hand.text


@pytest.mark.slow
async def test_what_an_import_brings_is_listed_without_its_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, here = open_bench(tmp_path), tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    (here / "book.txt").write_text(book(ALL))
    import_file(bench, here / "book.txt")
    (here / "book.txt").write_text(book(fresh("another")) + "[bad line\n")
    (here / "more.txt").write_text(book(ALL).replace("Use", "Then use").replace("[r-", "[q-"))
    kinds = ALL | {f"{name} again": one for name, one in fresh("another").items()}
    (here / f"of-{ALL['github'].secret}").mkdir()
    (here / f"{ALL['gitlab'].secret}.txt").write_text(book(fresh("a third")))
    async with app_on(bench) as (app, pilot):
        for file in ("book.txt", "more.txt"):
            await pilot.press("F")
            await until_drawn(
                pilot, lambda: isinstance(app.screen, ImportDialog) and app.screen.chosen.listing
            )
            assert isinstance(app.screen, ImportDialog)
            assert held(kinds, screen_text(app)) == []
            assert screen_text(app).count("[secret: ") >= 2
            app.screen._path.value = file
            await until_drawn(
                pilot, lambda: isinstance(app.screen, ImportDialog) and app.screen.chosen.plan
            )
            await pilot.press("ctrl+r")
            await until_drawn(
                pilot, lambda: isinstance(app.screen, ImportDialog) and app.screen.chosen.plan
            )
            assert held(kinds, screen_text(app)) == [], file
            assert "[secret: " in screen_text(app)
            await pilot.press("escape")
            await until_drawn(pilot, lambda: not isinstance(app.screen, ImportDialog))


@pytest.mark.slow
async def test_findings_in_a_file_their_fixes_and_the_whole_of_it_show_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, here = open_bench(tmp_path), tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    stray = "".join(f"a stray line with {one.text}\n" for one in ALL.values())
    (here / "book.txt").write_text(f"{stray}### RULES\n" + book(ALL) + book(ALL) + block() + "\n")
    import_file(bench, here / "book.txt")
    async with app_on(bench) as (app, pilot):
        await pilot.press("6")
        await until(pilot, lambda: isinstance(app.screen, HealthScreen))
        health = app.screen
        assert isinstance(health, HealthScreen)
        await until_drawn(
            pilot, lambda: any(r.section == "files" and not r.heading for r in health.rows.rows)
        )
        rows = list(health.rows.rows)
        health.rows.cursor = next(
            n for n, r in enumerate(rows) if r.section == "files" and r.name.endswith("book.txt")
        )
        await pilot.pause()
        assert held(ALL, screen_text(app)) == []
        await pilot.press("enter")
        await until_drawn(
            pilot, lambda: isinstance(app.screen, FindingsDialog) and app.screen._list.rows
        )
        dialog = app.screen
        assert isinstance(dialog, FindingsDialog)
        for place in range(0, len(dialog._list.rows), 7):
            dialog._list.cursor = place
            await pilot.pause()
            finding = dialog._list.current
            if finding is not None and finding.fix is not None:
                await until_drawn(pilot, lambda: dialog.changes)
            assert held(ALL, screen_text(app)) == [], place
        dialog._list.cursor = 0
        await pilot.press("F")
        await until_drawn(pilot, lambda: dialog.changes)
        assert held(ALL, screen_text(app)) == []
        await pilot.press("v")
        await until_drawn(
            pilot, lambda: isinstance(app.screen, WholeFile) and app.screen.query_one(Pane).rows
        )
        assert held(ALL, screen_text(app)) == []
        assert "[secret: " in screen_text(app)


@pytest.mark.slow
async def test_queries_of_a_file_and_in_a_file_show_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bench = open_bench(tmp_path)
    put(bench, Memory("m1", "Deploy on Mondays.", NOW, NOW))
    first, second = list(ALL.items())[::2], list(ALL.items())[1::2]
    with ungated(bench):
        for _, one in first:
            bench.judging.judge(f"how about {one.text}", None, "m1", 2)
    lines = (
        json.dumps({"query": f"what of {one.text}", "relevant": {"m1": 2}}) for _, one in second
    )
    (tmp_path / "in.jsonl").write_text(
        "\n".join(lines) + '\n{"query": "broken ' + ALL["github"].secret + "\n"
    )
    async with app_on(bench) as (app, pilot):
        await pilot.press("4")
        await until_drawn(pilot, lambda: tune(app).session.ranking is not None)
        assert held(ALL, screen_text(app)) == []
        await pilot.press("I")
        await until(pilot, lambda: isinstance(app.screen, ImportDialog))
        app.screen.query_one("#import-path", Input).value = "in.jsonl"
        await until_drawn(pilot, lambda: app.screen.query_one(LineView).rows)
        assert held(ALL, screen_text(app)) == []
        assert "[secret: " in screen_text(app)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is tune(app))
        await pilot.press("f")
        await until_drawn(pilot, lambda: isinstance(app.screen, Choose))
        assert held(ALL, screen_text(app)) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "dialog"),
    [
        ("J", JudgeDialog),
        ("B", Better),
        ("m", MetricsDialog),
        ("D", DuplicatesDialog),
        ("w", Choose),
        ("c", Choose),
    ],
    ids=["judge", "better", "metrics", "duplicates", "why", "compare"],
)
async def test_no_dialog_of_tune_shows_a_secret(tmp_path: Path, key: str, dialog: type) -> None:
    secret = Secrets()
    bench = imported(tmp_path, secret)
    text = f"Deploys need {secret('alike')} and a build."
    put(bench, *(Memory(f"m{n}", text + " " * n, NOW, NOW) for n in range(2)))
    async with app_on(bench) as (app, pilot):
        await pilot.press("4")
        await until_drawn(pilot, lambda: tune(app).session.ranking is not None)
        assert secret.on(app) == []
        await pilot.press(key)
        await until_drawn(pilot, lambda: isinstance(app.screen, dialog))
        await until_drawn(pilot, lambda: _filled(app))
        assert secret.on(app) == []
        await pilot.press("enter" if key in "wc" else "j")
        await until_drawn(pilot, lambda: True)
        assert secret.on(app) == []


def _filled(app: WorkbenchApp) -> bool:
    """Tell whether what a dialog looks for in the background has come."""
    screen = app.screen
    if isinstance(screen, Better):
        return screen.preferences is not None or "✗" in str(
            screen.query_one("#better-query", Static).content
        )
    if isinstance(screen, DuplicatesDialog):
        return screen.found is not None
    return True


@pytest.mark.slow
async def test_compared_memories_show_no_secret_that_nobody_opened(tmp_path: Path) -> None:
    secret = Secrets()
    bench = open_bench(tmp_path)
    for n in range(2):
        named = {"id": f"m{n} {secret(f'id {n}')}", "observation_type": secret(f"type {n}")}
        put(
            bench,
            Memory(
                content="Always build before a deploy.",
                created_at=NOW,
                last_accessed_at=NOW,
                **named,  # type: ignore[arg-type]
            ),
        )
    async with app_on(bench, (160, 50)) as (app, pilot):
        await pilot.press("6")
        await until(pilot, lambda: isinstance(app.screen, HealthScreen))
        health = app.screen
        assert isinstance(health, HealthScreen)
        await pilot.press("D")
        await until_drawn(
            pilot, lambda: any(r.section == "duplicates" and r.item for r in health.rows.rows)
        )
        for place, row in enumerate(health.rows.rows):
            if row.section == "duplicates":
                health.rows.cursor = place
                await pilot.pause()
                assert secret.on(app) == [], row.name
