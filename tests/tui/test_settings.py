"""What is wrong with the settings stays in sight until it is mended; a theme that will not last
says so.
"""

from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Input

from tests.small_models import small_model
from tests.tui.support import app_over, demo_bench, messages, opens, screen_text, shows
from tests.tui.waiting import until_drawn
from workbench.config import loading, paths
from workbench.services.folder import make_store
from workbench.store.journal.engine import utc_now
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.app.run import View, _options, profiles_of
from workbench.tui.health.screen import HealthScreen
from workbench.tui.widgets.dialog import Prompt
from workbench.tui.widgets.header import TopBar


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The person's settings, which name a theme and hold a mistake."""
    file = paths.config_dir() / loading.FILE_NAME
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text('# mine\ntheme = "workbench-light"\nfrobnicate = 3\n', "utf-8")
    return file


def app_with(config: Path, folder: Path) -> WorkbenchApp:
    """Start the app as `workbench` does with that file."""
    bench = demo_bench(folder)
    view = View(bench.library.folder, "demo", "")
    options = _options(view, loading.load(config), remember=True, returns=False)
    app = app_over(bench)
    return WorkbenchApp(bench, replace(options, themes=app.options.themes))


@pytest.mark.slow
async def test_a_mistake_in_the_settings_stays_until_it_is_mended(
    config: Path, tmp_path: Path
) -> None:
    app = app_with(config, tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        await shows(pilot, "6 Health !")
        assert any("frobnicate" in one for one in messages(app))
        app.clear_notifications()
        await pilot.press("6")
        await until_drawn(
            pilot, lambda: isinstance(app.screen, HealthScreen) and "Settings" in screen_text(app)
        )
        await shows(pilot, "frobnicate")
        await pilot.press("g", "j")
        await shows(pilot, "r checks again")
        assert "health" in app.screen.query_one(TopBar).due
        config.write_text('theme = "workbench-light"\n', "utf-8")
        app.screen.sections["settings"].gather()  # type: ignore[attr-defined]
        await until_drawn(
            pilot,
            lambda: "frobnicate" not in screen_text(app) and "Settings" not in screen_text(app),
        )
    app = app_with(config, tmp_path / "again")
    assert app.options.faults == ()


async def test_a_theme_that_the_settings_do_not_name_says_that_it_will_not_last(
    config: Path, tmp_path: Path
) -> None:
    app = app_with(config, tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        assert app.theme == "workbench-light"
        titles = [command.title for command in app.commands(app.screen)]
        assert "Keep this theme" not in titles
        app.theme = "workbench-dark"
        await pilot.pause()
        assert any(
            "config.toml names “workbench-light”, which returns at the next start; ctrl+p, “Keep this theme” writes "
            "workbench-dark there." in one
            for one in messages(app)
        )
        command = next(c for c in app.commands(app.screen) if c.title == "Keep this theme")
        command.run()
        await pilot.pause()
        assert config.read_text("utf-8") == '# mine\ntheme = "workbench-dark"\nfrobnicate = 3\n'
        assert "config.toml now names workbench-dark." in messages(app)
        assert "Keep this theme" not in [c.title for c in app.commands(app.screen)]


def test_a_profile_that_is_saved_in_a_demo_goes_with_it(config: Path, tmp_path: Path) -> None:
    own = config.parent / "profiles"
    own.mkdir()
    (own / "mine.toml").write_text("recency = 0.5\n", "utf-8")
    demo = tmp_path / "temporary" / "demo"
    demo.mkdir(parents=True)
    assert profiles_of(View(demo, "shop", "")) == own
    found = profiles_of(View(demo, "demo", "", remember=False))
    assert found == demo.parent / "profiles"
    assert (found / "mine.toml").read_text("utf-8") == "recency = 0.5\n"
    (found / "tried.toml").write_text("recency = 0.1\n", "utf-8")
    assert profiles_of(View(demo, "demo", "", remember=False)) == found, (
        "what was saved there stays until its end"
    )
    assert [path.name for path in own.iterdir()] == ["mine.toml"]


def test_a_store_that_was_named_and_is_none_yet_is_told_of(config: Path, tmp_path: Path) -> None:
    def problems(store: Path, why: str) -> tuple[str, ...]:
        view = View(store, store.name, why)
        return _options(view, loading.load(config), remember=True, returns=False).problems

    make_store(tmp_path / "store", utc_now, shared=False)
    assert not problems(tmp_path / "store", "by --store")
    assert problems(tmp_path / "stroe", "by --store") == (
        f"There is no store in {tmp_path / 'stroe'} yet. It is created with the first memory.",
    )
    assert not problems(tmp_path / "stroe", "this project's")


async def test_another_embedding_model_is_chosen_in_the_palette(
    config: Path, tmp_path: Path
) -> None:
    model = small_model(tmp_path / "model", ["a text of words", "текст из слов"])
    app = app_with(config, tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        command = next(c for c in app.commands(app.screen) if c.title == "Embedding model")
        before = config.read_text("utf-8")
        command.run()
        await opens(pilot, Prompt)
        app.screen.query_one(Input).value = str(tmp_path)
        await pilot.press("enter")
        await until_drawn(pilot, lambda: any("cannot be loaded" in one for one in messages(app)))
        assert config.read_text("utf-8") == before
        command.run()
        await opens(pilot, Prompt)
        app.screen.query_one(Input).value = str(model)
        await pilot.press("enter")
        await until_drawn(pilot, lambda: any("judged queries" in one for one in messages(app)))
        assert loading.load(config).settings.model == model
        assert app.bench.retriever.embedder.is_bundled
