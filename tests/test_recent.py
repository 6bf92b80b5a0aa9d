"""Recent stores and the last look: kept over runs, tolerant of every broken file."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from workbench.config.recent import (
    FILE_NAME,
    KEPT,
    SHOWN,
    last_item,
    last_look,
    last_theme,
    recent,
    remember,
    remember_theme,
)

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)


def make(root: Path, name: str) -> Path:
    folder = root / name
    folder.mkdir()
    return folder


def seen(state: Path, store: Path) -> tuple[int, datetime] | None:
    look = last_look(state, store)
    return None if look is None else (look.rev, look.at)


def test_a_look_is_remembered_and_replaced(tmp_path: Path) -> None:
    state, store = tmp_path / "state" / "deep", make(tmp_path, "store")
    assert last_look(state, store) is None
    remember(state, store, 7, NOW)
    remember(state, store, 3, NOW + timedelta(hours=1))
    assert seen(state, store) == (3, NOW + timedelta(hours=1))
    assert recent(state) == [store]
    assert [file.name for file in state.iterdir()] == [FILE_NAME]


def test_one_store_under_two_names_is_one_store(tmp_path: Path) -> None:
    store = make(tmp_path, "store")
    (tmp_path / "link").symlink_to(store)
    remember(tmp_path, tmp_path / "link", 1, NOW)
    remember(tmp_path, store / ".." / "store", 2, NOW)
    assert recent(tmp_path) == [store]
    assert seen(tmp_path, tmp_path / "link") == (2, NOW)


def test_recent_stores_come_newest_first_without_missing_ones(tmp_path: Path) -> None:
    stores = [make(tmp_path, f"s{n}") for n in range(SHOWN + 3)]
    for n, store in enumerate(stores):
        remember(tmp_path, store, n, NOW + timedelta(minutes=n))
    stores[-1].rmdir()
    assert recent(tmp_path) == stores[-2 : -2 - SHOWN : -1]
    assert last_look(tmp_path, stores[-1]) is not None


def test_the_file_does_not_grow_for_ever(tmp_path: Path) -> None:
    rows = [
        {"path": f"/nowhere/{n}", "rev": n, "at": "2026-01-01T00:00:00Z"} for n in range(KEPT + 50)
    ]
    (tmp_path / FILE_NAME).write_text(json.dumps({"version": 1, "stores": rows}))
    remember(tmp_path, tmp_path, 1, NOW)
    assert len(json.loads((tmp_path / FILE_NAME).read_text())["stores"]) == KEPT


def test_of_two_rows_for_one_store_the_newer_counts(tmp_path: Path) -> None:
    rows = [
        {"path": str(tmp_path), "rev": 1, "at": "2026-01-01T00:00:00Z"},
        {"path": str(tmp_path), "rev": 2, "at": "2026-01-02T00:00:00Z"},
    ]
    (tmp_path / FILE_NAME).write_text(json.dumps({"version": 1, "stores": rows}))
    assert seen(tmp_path, tmp_path) == (2, datetime(2026, 1, 2, tzinfo=UTC))
    assert recent(tmp_path) == [tmp_path]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b'{"stores": 3}',
        b'{"stores": [1, null, {"path": 3}, {"path": "/x", "rev": "1", "at": "2026-01-01"}]}',
        b'{"stores": [{"path": "/x", "rev": true, "at": "2026-01-01"}, {"path": "/x", "rev": 1, "at": "soon"}]}',
        b'{"stores": [{"path": "/x", "rev": 1, "at": "0001-01-01T00:00+14:00"}]}',
        b'{"stores": [{"path": "x", "rev": 1, "at": "2026-01-01"}]}',
        b"[" * 100_000,
    ],
)
def test_a_broken_file_counts_as_empty_and_is_replaced(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    assert recent(tmp_path) == []
    assert last_look(tmp_path, Path("/x")) is None
    remember(tmp_path, tmp_path, 1, NOW)
    assert recent(tmp_path) == [tmp_path]


def test_a_readable_row_survives_its_broken_neighbours(tmp_path: Path) -> None:
    rows = [{"path": 1}, {"path": str(tmp_path), "rev": 4, "at": "2026-01-01T00:00:00Z"}, "x"]
    (tmp_path / FILE_NAME).write_text(json.dumps({"stores": rows}))
    assert seen(tmp_path, tmp_path) == (4, datetime(2026, 1, 1, tzinfo=UTC))


def test_a_row_with_a_strange_place_in_review_stays(tmp_path: Path) -> None:
    row = {"path": str(tmp_path), "rev": 4, "at": "2026-01-01T00:00:00Z", "review": 3}
    (tmp_path / FILE_NAME).write_text(json.dumps({"stores": [row]}))
    assert recent(tmp_path) == [tmp_path]
    assert last_item(tmp_path, tmp_path) == ""


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    remember(blocked, tmp_path, 1, NOW)
    assert recent(blocked) == []
    taken = make(tmp_path, "taken")
    (taken / FILE_NAME).mkdir()
    remember(taken, tmp_path, 1, NOW)
    assert [entry.name for entry in taken.iterdir()] == [FILE_NAME]


def test_the_theme_chosen_last_is_kept(tmp_path: Path) -> None:
    assert last_theme(tmp_path / "state") == ""
    remember_theme(tmp_path / "state", "workbench-light")
    assert last_theme(tmp_path / "state") == "workbench-light"


def test_the_place_in_review_is_kept_per_store(tmp_path: Path) -> None:
    one, other = make(tmp_path, "one"), make(tmp_path, "other")
    remember(tmp_path, one, 1, NOW, "mem-7")
    remember(tmp_path, other, 1, NOW)
    remember(tmp_path, one, 2, NOW)
    assert (last_item(tmp_path, one), last_item(tmp_path, other)) == ("mem-7", "")
    remember(tmp_path, one, 3, NOW, "")
    assert last_item(tmp_path, one) == ""
