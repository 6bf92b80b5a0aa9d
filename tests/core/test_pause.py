"""How often the collector comes: seldom in a command, as always in what runs for long, and not at a process's end."""

import gc
import subprocess
import sys
from collections.abc import Iterator

import pytest

from workbench.__main__ import main
from workbench.core.pause import SELDOM, be_seldom, be_usual


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
    from workbench.core.pause import be_seldom
    be_seldom()
Circle()
"""
    said = [subprocess.check_output([sys.executable, "-c", script, how]) for how in ("seldom", "")]
    assert said == [b"", b"collected\n"]
