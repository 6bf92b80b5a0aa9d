"""Drafts: kept beside the record for their owner only, tolerant of every broken file and full disk."""

import os
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.config.drafts import (
    KEPT,
    KEPT_FOR,
    Draft,
    Item,
    digest,
    drop,
    drop_about,
    find,
    folder_of,
    keep,
    since,
)
from workbench.core.runtime import process

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
ITEM = Item("memories/mem-1")


def draft(text: str, stored: str = "stored", at: datetime = NOW) -> Draft:
    return Draft(text, digest(stored), at)


@given(
    text=st.text(st.characters(), max_size=40),
    item=st.builds(Item, st.text(max_size=20), st.text(max_size=20)),
)
def test_a_draft_comes_back_as_it_was_typed(
    tmp_path_factory: pytest.TempPathFactory, text: str, item: Item
) -> None:
    folder = tmp_path_factory.mktemp("state")
    assert keep(folder, item, draft(text)) == ""
    found = find(folder, item)
    assert found == draft(text)
    assert (found.is_of("stored"), found.is_of("changed")) == (True, False)
    assert find(folder, Item(item.record, f"{item.use}-")) is None


def test_a_draft_is_its_owners_alone_and_holds_no_copy_of_what_is_stored(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "state", tmp_path / "store")
    keep(folder, ITEM, draft("half a", "the stored words"))
    (path,) = folder.iterdir()
    assert (stat.S_IMODE(path.stat().st_mode), stat.S_IMODE(folder.stat().st_mode)) == (
        0o600,
        0o700,
    )
    assert "stored words" not in path.read_text()
    assert folder != folder_of(tmp_path / "state", tmp_path / "other")


@pytest.mark.parametrize(
    "broken", [b"", b"[", b"[]", b"{}", b"\xff", b'{"item": "text memories/mem-1", "text": 1}']
)
def test_a_broken_draft_is_none(tmp_path: Path, broken: bytes) -> None:
    keep(tmp_path, ITEM, draft("words"))
    next(tmp_path.iterdir()).write_bytes(broken)
    assert find(tmp_path, ITEM) is None
    assert keep(tmp_path, ITEM, draft("again")) == ""
    assert find(tmp_path, ITEM) == draft("again")


def test_what_cannot_be_written_is_said_and_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert keep(tmp_path / "file", ITEM, draft("words")) in ("Not a directory", "File exists")
    assert find(tmp_path / "file", ITEM) is None
    drop(tmp_path / "file", ITEM)
    keep(tmp_path, ITEM, draft("words"))
    drop(tmp_path, ITEM)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_old_drafts_and_too_many_of_them_make_room(tmp_path: Path) -> None:
    keep(tmp_path, Item("memories/old"), draft("x", at=NOW - KEPT_FOR - timedelta(hours=1)))
    for place in range(KEPT):
        keep(tmp_path, Item(f"memories/{place}"), draft("x", at=NOW + timedelta(seconds=place)))
    assert find(tmp_path, Item("memories/old")) is None
    keep(tmp_path, Item("memories/0"), draft("again", at=NOW))
    assert find(tmp_path, Item("memories/1")) is not None, (
        "a draft that is there already takes no room"
    )
    keep(tmp_path, ITEM, draft("x", at=NOW + timedelta(hours=1)))
    assert len(list(tmp_path.iterdir())) == KEPT
    assert find(tmp_path, Item("memories/0")) is None


def test_what_was_typed_since_a_moment_is_named_once_the_latest_first(tmp_path: Path) -> None:
    for minutes, item in enumerate(
        (Item("memories/a"), ITEM, Item("memories/b"), Item("memories/b", "split"))
    ):
        keep(tmp_path, item, draft("x", at=NOW + timedelta(minutes=minutes)))
    assert since(tmp_path, NOW) == ("memories/b", "memories/mem-1")
    assert since(tmp_path, None)[-1] == "memories/a"
    assert since(tmp_path, NOW + timedelta(hours=1)) == since(tmp_path / "none", None) == ()


def test_what_another_window_types_is_its_own_until_it_is_gone(tmp_path: Path) -> None:
    wait = "import sys; sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", wait], stdin=subprocess.PIPE, text=True) as other:
        keep(tmp_path, ITEM, draft("theirs", at=NOW + timedelta(minutes=1)))
        (mine,) = tmp_path.iterdir()
        theirs = mine.rename(
            mine.with_name(mine.name.replace(process(os.getpid()), process(other.pid)))
        )
        assert find(tmp_path, ITEM) is None
        assert since(tmp_path, None) == ()
        keep(tmp_path, ITEM, draft("mine"))
        drop(tmp_path, ITEM)
        assert list(tmp_path.iterdir()) == [theirs]
        other.communicate("")
    assert find(tmp_path, ITEM) == draft("theirs", at=NOW + timedelta(minutes=1))
    assert since(tmp_path, None) == (ITEM.record,)
    drop(tmp_path, ITEM)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("owner", ["", "-x", "0", "1-0", "٣", "-1", "99999999999", str(2**40)])
def test_a_draft_of_nobody_that_runs_is_offered(tmp_path: Path, owner: str) -> None:
    keep(tmp_path, ITEM, draft("words"))
    (path,) = tmp_path.iterdir()
    path.rename(path.with_name(f"{path.name.partition('-')[0]}{owner and '-'}{owner}.json"))
    assert find(tmp_path, ITEM) == draft("words")


def test_every_draft_about_an_erased_record_goes(tmp_path: Path) -> None:
    for item in (
        ITEM,
        Item("memories/mem-1", "split"),
        Item("memories/mem-10"),
        Item("bullets/a b/x-1"),
    ):
        keep(tmp_path, item, draft("secret"))
    (tmp_path / ".broken-off").write_text('{"item": "text memories/mem-1", "text": "secr')
    assert drop_about(tmp_path, ["memories/mem-1", "bullets/a b/x-1"]) == 4
    assert len(list(tmp_path.iterdir())) == 1
    assert [find(tmp_path, Item(f"memories/mem-1{end}")) is None for end in ("", "0")] == [
        True,
        False,
    ]
    assert drop_about(tmp_path / "none", ["memories/mem-1"]) == 0
