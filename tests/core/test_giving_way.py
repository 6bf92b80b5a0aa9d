"""What nobody waits for leaves the interpreter to the thread that answers a key."""

import threading
import time

import pytest

from workbench.core import stopping
from workbench.core.stopping import KEY_S, answer_first, give_way


def waits_of_another_thread(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Give way in another thread, and return how long it slept each time."""
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    thread = threading.Thread(target=give_way)
    thread.start()
    thread.join()
    return slept


def test_another_thread_waits_while_a_key_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 7.0)
    answer_first()
    assert waits_of_another_thread(monkeypatch) == [pytest.approx(KEY_S)]


def test_the_thread_that_answers_keys_never_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    answer_first()
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("it waits for itself"))
    give_way()


def test_without_a_key_nothing_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopping, "_answered", (0, -KEY_S))
    assert waits_of_another_thread(monkeypatch) == []
