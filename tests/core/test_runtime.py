"""How a process goes about its threads and its memory: a collector that comes seldom, one heap."""

import ctypes
import re
import subprocess
import sys

import pytest


def test_nothing_is_collected_at_the_end_of_a_process() -> None:
    # What stands in a circle is looked for at the end, and only there; kept from the collector, it
    # is not.
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
    from workbench.core.runtime import collect_seldom
    collect_seldom()
Circle()
"""
    said = [subprocess.check_output([sys.executable, "-c", script, how]) for how in ("seldom", "")]
    assert said == [b"", b"collected\n"]


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
    not (sys.platform == "linux" and hasattr(ctypes.CDLL(None), "malloc_info")),
    reason="no C library that tells",
)
def test_threads_that_begin_later_share_the_memory_of_the_first() -> None:
    def heaps(way: str) -> int:
        told = subprocess.run(
            [sys.executable, "-c", HEAPS, way], capture_output=True, text=True, check=True
        ).stdout
        return len(re.findall(r"<heap nr=", told))

    assert heaps("shared") == 1
    assert heaps("apart") > 1
