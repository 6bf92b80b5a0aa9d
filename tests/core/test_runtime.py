"""How a process goes about its threads and its memory: giving way to a key, a collector that comes seldom, one heap."""

import ctypes
import gc
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from workbench.__main__ import main
from workbench.core import runtime
from workbench.core.runtime import KEY_S, SELDOM, answer_first, be_seldom, be_usual, give_way


@pytest.fixture(autouse=True)
def _as_found() -> Iterator[None]:
    yield
    be_usual()


def test_collections_are_seldom_until_they_are_as_before() -> None:
    before = gc.get_threshold()
    be_seldom()
    be_seldom()
    assert gc.get_threshold() == (SELDOM, *before[1:])
    be_usual()
    be_usual()
    assert gc.get_threshold() == before


def test_a_command_leaves_the_collector_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    before = gc.get_threshold()
    assert main(["--version"]) == 0
    assert capsys.readouterr().out
    assert gc.get_threshold() == before


def test_nothing_is_collected_at_the_end_of_a_process() -> None:
    # What stands in a circle is looked for at the end, and only there; kept from the collector, it is not.
    script = """
import atexit, sys
class Circle:
    def __init__(self):
        self.own = self
    def __del__(self):
        print("collected")
import gc
gc.disable()
if sys.argv[1] == "seldom":
    from workbench.core.runtime import be_seldom
    be_seldom()
Circle()
"""
    said = [subprocess.check_output([sys.executable, "-c", script, how]) for how in ("seldom", "")]
    assert said == [b"", b"collected\n"]


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
    monkeypatch.setattr(runtime, "_answered", (0, -KEY_S))
    assert waits_of_another_thread(monkeypatch) == []


HEAPS = """
import ctypes, os, sys, threading
from workbench.core.runtime import share_memory
if sys.argv[1] == "shared":
    share_memory()
def work():
    kept.append([bytes(100_000) for _ in range(20)])
    barrier.wait()
kept, barrier = [], threading.Barrier(5)
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
barrier.wait()
libc = ctypes.CDLL(None)
libc.fdopen.restype = ctypes.c_void_p
out = ctypes.c_void_p(libc.fdopen(os.dup(1), b"w"))
libc.malloc_info(0, out)
libc.fclose(out)
"""


@pytest.mark.skipif(
    not (sys.platform == "linux" and hasattr(ctypes.CDLL(None), "malloc_info")), reason="no C library that tells"
)
def test_threads_that_begin_later_share_the_memory_of_the_first() -> None:
    def heaps(way: str) -> int:
        told = subprocess.run([sys.executable, "-c", HEAPS, way], capture_output=True, text=True, check=True).stdout
        return len(re.findall(r"<heap nr=", told))

    assert heaps("shared") == 1
    assert heaps("apart") > 1
