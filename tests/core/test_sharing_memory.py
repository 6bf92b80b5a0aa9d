"""Threads take their memory from one place where the C library lets them be told."""

import ctypes
import re
import subprocess
import sys

import pytest

HEAPS = """
import ctypes, os, sys, threading
from workbench.core.pause import share_memory
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
