"""What nobody waits for leaves the interpreter to the thread that answers a key."""

import threading
import time

import pytest

from workbench.core import stopping
from workbench.core.stopping import KEY_S, answer_first, give_way


def in_another_thread() -> float:
    """Give way in another thread, and return when it went on."""
    went_on: list[float] = []

    def work() -> None:
        give_way()
        went_on.append(time.monotonic())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return went_on[0]


def test_another_thread_goes_on_once_a_key_was_answered() -> None:
    before = time.monotonic()
    answer_first()
    assert in_another_thread() >= before + KEY_S


def test_the_thread_that_answers_keys_never_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    answer_first()
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("it waits for itself"))
    give_way()


def test_without_a_key_nothing_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopping, "_answered", (0, -KEY_S))
    waited: list[float] = []
    monkeypatch.setattr(time, "sleep", waited.append)
    in_another_thread()
    assert waited == []
