"""The hook's lock and the library's are one lock."""

import threading
from pathlib import Path

import pytest

from workbench.core.errors import StoreProblem
from workbench.store import quick_lock
from workbench.store.lock import WriteLock


def test_each_keeps_the_other_out(tmp_path: Path) -> None:
    usual = WriteLock(tmp_path / "lock", patience=0.02)
    with quick_lock.held(tmp_path), pytest.raises(StoreProblem, match="Another process"), usual.held():
        pass
    with usual.held(), pytest.raises(StoreProblem, match="Another process"), quick_lock.held(tmp_path, 0.02):
        pass
    with quick_lock.held(tmp_path, 0.02):
        pass
    assert (tmp_path / "lock").stat().st_mode & 0o777 == 0o600


def test_it_waits_until_the_other_lets_go(tmp_path: Path) -> None:
    usual, order = WriteLock(tmp_path / "lock"), list[str]()
    waiting = threading.Event()

    def hook() -> None:
        waiting.set()
        with quick_lock.held(tmp_path):
            order.append("hook")

    thread = threading.Thread(target=hook)
    with usual.held():
        thread.start()
        waiting.wait()
        order.append("library")
    thread.join()
    assert order == ["library", "hook"]


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StoreProblem, match="cannot be written"), quick_lock.held(tmp_path / "missing"):
        pass
