"""Whoever leaves is not kept waiting for what nobody will look at: long reading gives up between
two pieces.
"""

import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.services.conftest import Open, write
from tests.store.helpers import memory, open_library
from workbench.core.runtime import PIECE, Stopped, in_pieces, may_stop, stoppable
from workbench.services.open import Workbench
from workbench.services.stream.memory_lines import MemoryLines

MANY = 3 * PIECE + 1


def after(looks: int) -> Callable[[], bool]:
    """Return what says that nobody waits any more from the look after so many on."""
    seen = iter([False] * looks)
    return lambda: next(seen, True)


def put(bench: Workbench, number: int) -> None:
    write(bench, memory(number))


def test_nothing_stops_unless_somebody_may_leave() -> None:
    may_stop()
    assert list(in_pieces(range(MANY))) == list(range(MANY))
    with stoppable(after(9)):
        assert list(in_pieces(range(MANY))) == list(range(MANY))
        assert list(in_pieces([])) == []
    may_stop()


def test_of_many_things_no_more_than_a_piece_is_gone_through_once_nobody_waits() -> None:
    for number in (0, 1, 2):
        done: list[int] = []
        with stoppable(after(number)), pytest.raises(Stopped):
            deque(map(done.append, in_pieces(range(MANY))), maxlen=0)
        assert len(done) == number * PIECE


def test_a_store_whose_reading_was_given_up_is_read_later_as_if_nothing_had_been(
    tmp_path: Path,
) -> None:
    library = open_library(tmp_path / "s")
    with library.transaction("human", "put") as tx:
        for number in range(PIECE + 5):
            tx.put(memory(number))
    library.close()
    again = open_library(tmp_path / "s")
    with stoppable(after(1)), pytest.raises(Stopped):
        again.read()
    with again.transaction("human", "put") as tx:
        tx.put(memory(PIECE + 5))
    assert [m.id for m in again.memories.all()] == [
        memory(number).id for number in range(PIECE + 6)
    ]


def test_the_lines_that_free_words_are_looked_for_in_are_given_up(tmp_path: Path) -> None:
    memories = [memory(number) for number in range(PIECE + 1)]
    with stoppable(after(1)), pytest.raises(Stopped):
        MemoryLines(memories)


def test_a_retriever_whose_loading_was_given_up_loads_what_came_since(open_bench: Open) -> None:
    bench = open_bench()
    put(bench, 1)
    with stoppable(after(0)), pytest.raises(Stopped):
        bench.retriever.load()
    assert not bench.retriever.ready
    put(bench, 2)
    assert len(bench.retriever.load().pool) == 2


ENDING = """
import sys, time
from workbench.core import runtime

runtime.PATIENCE_S = 0.5
asked = []
with runtime.asked_to_end(asked.append):
    print("ready", flush=True)
    while not asked:
        time.sleep(0.01)
    print("asked", flush=True)
    while True:
        time.sleep(0.01)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no hang-ups here")
def test_who_asks_again_after_a_while_ends_at_once_what_does_not_end_in_order() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", ENDING], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            process.send_signal(signal.SIGTERM)
            process.send_signal(signal.SIGHUP)
            assert process.stdout.readline() == "asked\n"
            while process.poll() is None:  # as somebody does who sees it still run
                process.send_signal(signal.SIGTERM)
                time.sleep(0.05)
            assert process.returncode == -signal.SIGTERM
        finally:
            process.kill()
