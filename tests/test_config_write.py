"""Writing settings: what stands in the file stays, and a file that cannot be used is left alone."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.config.loading import Settings, load
from workbench.config.settings_reading import show
from workbench.config.writing import remove_view, save_view, set_values, unset, with_values
from workbench.core.record import InvalidRecord, StoreProblem, WorkbenchError
from workbench.core.stream.confidence import Arranged, SavedView

MINE = """\
# my settings
theme = "gruvbox"   # the warm one

[thresholds]
# stricter
duplicate = 0.92  # was 0.9
order = 90

[keys]
"stream.pin" = "P"
"""


def test_values_are_put_in_place_and_everything_else_stays(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(MINE)
    assert set_values(path, {"thresholds.duplicate": 0.87, "thresholds.review": 0.7}) == {
        "thresholds.duplicate": 0.92,
        "thresholds.review": None,
    }
    lines = path.read_text().splitlines()
    assert "duplicate = 0.87  # was 0.9" in lines
    assert [line for line in lines if line not in MINE.splitlines()] == [
        "duplicate = 0.87  # was 0.9",
        "review = 0.7",
    ]
    assert [line for line in MINE.splitlines() if line not in lines] == [
        "duplicate = 0.92  # was 0.9"
    ]
    loaded = load(path)
    assert loaded.problems == ()
    assert (loaded.settings.thresholds.flag, loaded.settings.thresholds.review) == (0.87, 0.7)


def test_a_second_write_takes_the_first_back(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(MINE)
    before = set_values(path, {"thresholds.duplicate": 0.87})
    assert set_values(path, {"thresholds.duplicate": 0.92}) == {"thresholds.duplicate": 0.87}
    assert before == {"thresholds.duplicate": 0.92}
    assert path.read_text() == MINE


def test_a_key_named_with_dots_is_one_place_and_can_be_taken_out(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(MINE)
    would = with_values(path, {"keys.stream.pin": "ctrl+t"})
    assert path.read_text() == MINE
    assert set_values(path, {"keys.stream.pin": "ctrl+t"}) == {"keys.stream.pin": "P"}
    assert path.read_bytes() == would
    assert dict(load(path).settings.keys) == {"stream.pin": "ctrl+t"}
    unset(path, "keys.stream.pin")
    unset(path, "thresholds.review")
    assert load(path).given == {"theme", "thresholds.duplicate", "thresholds.order"}
    assert b"hours = 48" in with_values(tmp_path / "new" / "a.toml", {"reflection.hours": 48})
    assert not (tmp_path / "new").exists()


def test_a_missing_file_and_its_folder_are_made(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "config.toml"
    assert set_values(path, {"theme": "mono", "thresholds.review": 0.5}) == {
        "theme": None,
        "thresholds.review": None,
    }
    assert tomllib.loads(path.read_text()) == {"theme": "mono", "thresholds": {"review": 0.5}}
    assert path.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize(
    "text",
    [
        "thresholds = {duplicate = 0.9}\n",
        "thresholds.duplicate = 0.9\n",
        "\ufeff[thresholds]\r\nduplicate = 0.9\r\n",
    ],
)
def test_every_way_to_write_a_table_is_kept(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(text.encode())
    set_values(path, {"thresholds.duplicate": 0.8})
    assert path.read_bytes() == text.replace("0.9", "0.8").encode()


def test_mode_and_links_stay(tmp_path: Path) -> None:
    real, link = tmp_path / "dotfiles.toml", tmp_path / "config.toml"
    real.write_text(MINE)
    real.chmod(0o600)
    link.symlink_to(real)
    set_values(link, {"theme": "mono"})
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o600
    assert load(link).settings.theme == "mono"


def test_the_same_value_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(MINE)
    path.chmod(0o644)
    before = path.stat().st_ino
    set_values(path, {"theme": "gruvbox"})
    assert (path.stat().st_ino, path.read_text()) == (before, MINE)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"theme = \n[", "not TOML (line 1)"), (b"a = 1\na = 2\n", "not TOML"), (b"\xff\xfe\x00", "not UTF-8"),
        (b"thresholds = 3\n", "“thresholds” is not a table"), (b"[thresholds.duplicate]\nx = 1\n", "is a table"),
        (b"[[thresholds]]\nx = 1\n", "“thresholds” is not a table"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_left_as_it_is(tmp_path: Path, data: bytes, problem: str) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(data)
    with pytest.raises(InvalidRecord) as raised:
        set_values(path, {"thresholds.duplicate": 0.8})
    assert problem in str(raised.value)
    assert "as it was" in str(raised.value)
    assert path.read_bytes() == data
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreProblem, match="not a folder"):
        set_values(tmp_path / "file" / "config.toml", {"theme": "x"})
    with pytest.raises(WorkbenchError, match="is a folder"):
        set_values(tmp_path, {"theme": "x"})
    locked = tmp_path / "locked.toml"
    locked.write_text(MINE)
    locked.chmod(0o444)
    with pytest.raises(WorkbenchError, match="read-only"):
        set_values(locked, {"theme": "x"})
    assert locked.read_text() == MINE


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.floats(0, 1), st.text(max_size=20))
def test_whatever_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, number: float, text: str
) -> None:
    path = tmp_path_factory.mktemp("config") / "config.toml"
    path.write_text(show(Settings()))
    set_values(path, {"thresholds.order": number, "editor": text})
    written = tomllib.loads(path.read_bytes().decode())
    assert (written["thresholds"]["order"], written["editor"]) == (number, text)


ERRORS = SavedView("Errors. Of CI", 'type:error "no key"', Arranged("-votes", "absolute"))


def test_a_view_is_saved_replaced_and_removed_and_the_rest_stays(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(MINE)
    save_view(path, ERRORS)
    assert path.read_text().startswith(MINE)
    assert load(path) == load(path)._replace(problems=())
    assert load(path).settings.views == (ERRORS,)
    assert tomllib.loads(show(load(path).settings))["views"]["Errors. Of CI"]["order"] == "-votes"
    save_view(path, SavedView("auth", "auth"))
    save_view(path, ERRORS._replace(filter="", arranged=Arranged()))
    assert load(path).settings.views == (SavedView("Errors. Of CI", ""), SavedView("auth", "auth"))
    remove_view(path, "Errors. Of CI")
    remove_view(path, "Errors. Of CI")
    assert load(path).settings.views == (SavedView("auth", "auth"),)
    remove_view(path, "auth")
    assert path.read_text().rstrip() == MINE.rstrip()


def test_a_view_is_not_saved_into_what_is_no_table(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("views = 3\n")
    with pytest.raises(InvalidRecord):
        save_view(path, ERRORS)
    assert path.read_text() == "views = 3\n"


@pytest.mark.parametrize(
    ("text", "views", "problem"),
    [
        ("views = 3", (), 'config.toml: "views" is not a table'),
        (
            "[views.a]\nfilter = 3",
            (),
            'config.toml: the view "a" has no text as its filter',
        ),
        (
            '[views.a]\nfilter = "since:never"\norder = "size"',
            (SavedView("a", "since:never"),),
            'config.toml: the view "a" has an unknown order',
        ),
        (
            '[views.a]\nfilter = "x"\ndates = 7',
            (SavedView("a", "x"),),
            'config.toml: the view "a" has dates that are neither "relative" nor "absolute"',
        ),
        (
            '[views.a]\nfilter = "x"\nsort = "votes"',
            (SavedView("a", "x"),),
            'config.toml: the view "a" has an unknown key "sort"',
        ),
    ],
)
def test_what_is_wrong_with_a_view_is_said_and_the_rest_of_it_holds(
    tmp_path: Path, text: str, views: tuple[SavedView, ...], problem: str
) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    loaded = load(path)
    (said,) = loaded.problems
    assert loaded.settings.views == views
    assert said.startswith(problem)
