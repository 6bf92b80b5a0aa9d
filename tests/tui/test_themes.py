"""Theme files: what is shipped is legible, what is broken is one sentence."""

from dataclasses import replace
from pathlib import Path

import pytest
from textual import events
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

from tests.tui.support import demo, demo_app, messages
from tests.tui.waiting import until
from workbench.tui.app.themes import load_themes, unknown_theme

SHIPPED = Path(__file__).parents[2] / "themes"
NAMES = ("workbench-contrast", "workbench-dark", "workbench-light", "workbench-mono")
TEXTS = (
    "foreground",
    "text-muted",
    "text-accent",
    "text-warning",
    "text-error",
    "text-success",
    "accent",
)
GROUNDS = (
    "background",
    "surface",
    "panel",
    "block-cursor-background",
    "block-cursor-blurred-background",
)

GOOD = 'name = "mine"\nprimary = "#336699"\nforeground = "#ffffff"\nbackground = "black"\n'


def shipped(name: str) -> tuple[Theme, dict[str, str]]:
    theme = next(t for t in load_themes([SHIPPED]).themes if t.name == name)
    return theme, {**theme.to_color_system().generate(), **theme.variables}


def luminance(colour: Color) -> float:
    parts = [v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in colour.normalized]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one: str, two: str) -> float:
    dark, light = sorted((luminance(Color.parse(one)), luminance(Color.parse(two))))
    return (light + 0.05) / (dark + 0.05)


def test_the_shipped_themes_load_without_a_word() -> None:
    loaded = load_themes([SHIPPED])
    assert loaded.problems == ()
    assert tuple(t.name for t in loaded.themes) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_text_is_legible_on_every_ground_of_a_light_or_dark_theme(name: str) -> None:
    theme, colours = shipped(name)
    assert theme.dark is (luminance(Color.parse(colours["background"])) < 0.5)
    low = {
        (text, ground): round(contrast(colours[text], colours[ground]), 2)
        for text in TEXTS
        for ground in GROUNDS
        if contrast(colours[text], colours[ground]) < 4.5
    }
    assert low == {}
    assert contrast(colours["block-cursor-foreground"], colours["block-cursor-background"]) >= 4.5
    grounds = [colours[ground] for ground in ("background", "surface", "panel", "boost")]
    assert min(contrast(colours["text-disabled"], ground) for ground in grounds) >= 3


@pytest.mark.parametrize("name", [*NAMES, *(n for n in BUILTIN_THEMES if not n.startswith("ansi"))])
def test_the_pane_with_the_keys_stands_out_in_every_theme(name: str) -> None:
    theme = BUILTIN_THEMES.get(name) or shipped(name)[0]
    colours = theme.to_color_system().generate()
    assert contrast(colours["text-accent"], colours["background"]) >= 3


def test_high_contrast_means_seven_to_one() -> None:
    _, colours = shipped("workbench-contrast")
    assert min(contrast(colours[t], colours[g]) for t in TEXTS for g in GROUNDS[:3]) >= 7


def test_mono_holds_no_hue() -> None:
    theme, _ = shipped("workbench-mono")
    values = [theme.primary, theme.accent, theme.background, theme.error, *theme.variables.values()]
    colours = [Color.parse(v) for v in values if v and v.startswith("#")]
    assert len(colours) > 15
    assert all(c.r == c.g == c.b for c in colours)


def write(folder: Path, text: str, name: str = "mine.toml") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8", errors="surrogateescape")
    return folder


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name = ", "cannot be read"),
        ("name = \udcff\udcfe", "cannot be read (it is not UTF-8 text)"),
        (GOOD.replace('name = "mine"\n', ""), "“name” is missing"),
        (GOOD.replace('primary = "#336699"\n', ""), "“primary” is missing"),
        (GOOD + 'error = "reddish"\n', "“error” is “reddish”, which is not a colour"),
        (GOOD + 'dark = "yes"\n', "“dark” is neither true nor false"),
        (GOOD + "luminosity_spread = 3\n", "“luminosity_spread” is not a number from 0 to 1"),
        (GOOD + "variables = 3\n", "“variables” is not a table"),
        (GOOD + '[variables]\nborder = "rgb("\n', "“border” is “rgb(”, which is not a colour"),
        (
            GOOD + '[variables]\ntext = "auto lots"\n',
            "“text” is “auto lots”, which is not a colour",
        ),
        (
            GOOD + '[variables]\nblock-cursor-text-style = "loud"\n',
            "is “loud”, which is not a text style",
        ),
    ],
)
def test_a_broken_file_is_one_sentence_and_the_others_load(
    tmp_path: Path, text: str, said: str
) -> None:
    folder = write(tmp_path, text)
    write(folder, GOOD.replace("mine", "good"), "other.toml")
    loaded = load_themes([folder])
    assert [t.name for t in loaded.themes] == ["good"]
    assert len(loaded.problems) == 1
    assert said in loaded.problems[0]
    assert loaded.problems[0].endswith("so the theme is left out.") or loaded.problems[0].endswith(
        "so it is left out."
    )


def test_unknown_keys_are_named_and_the_theme_still_loads(tmp_path: Path) -> None:
    loaded = load_themes(
        [write(tmp_path, GOOD + 'acent = "red"\n[variables]\nbordr = "red"\nborder = "auto 60%"\n')]
    )
    assert [t.name for t in loaded.themes] == ["mine"]
    assert loaded.themes[0].variables == {"border": "auto 60%"}
    assert loaded.problems == (
        "In the theme mine.toml, “acent” is unknown and was ignored; did you mean “accent”?",
        "In the theme mine.toml, “bordr” is unknown and was ignored; did you mean “border”?",
    )


def test_a_later_folder_replaces_a_theme_and_a_missing_one_is_empty(tmp_path: Path) -> None:
    first = write(tmp_path / "a", GOOD)
    second = write(tmp_path / "b", GOOD.replace("#336699", "#ff0000"))
    loaded = load_themes([first, second, tmp_path / "none"])
    assert [(t.name, t.primary) for t in loaded.themes] == [("mine", "#ff0000")]
    assert loaded.problems == ()


async def test_a_theme_that_does_not_exist_is_said_and_is_nobodys_choice(tmp_path: Path) -> None:
    (said,) = unknown_theme("workbench-drak", load_themes([SHIPPED]).themes)
    assert "There is no theme “workbench-drak”, so workbench-dark is shown" in said
    assert "Did you mean “workbench-dark”?" in said
    assert unknown_theme("nord", ()) == unknown_theme("", ()) == ()
    app = demo_app(tmp_path, "workbench-drak")
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        assert app.theme == app.theme_at_start == "workbench-dark"


async def test_a_screenshot_that_cannot_be_saved_says_why(tmp_path: Path) -> None:
    async with demo(tmp_path, (120, 40)) as (app, pilot):
        await pilot.pause()
        app.post_message(
            events.DeliveryFailed("key", PermissionError(13, "Permission denied"), "screenshot")
        )
        await pilot.pause()
        said = messages(app)
        assert "The screenshot could not be saved: Permission denied." in said
        assert not any("Failed to save" in one for one in said)


@pytest.mark.parametrize(("scratch", "where"), [(False, "here"), (True, "home")])
async def test_a_screenshot_without_a_folder_of_downloads_is_saved_where_it_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scratch: bool, where: str
) -> None:
    for name in ("here", "home"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("XDG_DOWNLOAD_DIR", str(tmp_path / "none"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "here")
    app = demo_app(tmp_path / "store")
    app.options = replace(app.options, scratch=scratch)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        save = next(one for one in app.commands(app.screen) if one.title == "Screenshot")
        save.run()
        await until(pilot, lambda: bool(list(tmp_path.rglob("*.svg"))))
    assert list((tmp_path / where).glob("*.svg"))
