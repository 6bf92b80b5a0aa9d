"""Copies of files that were replaced."""

import os
from pathlib import Path

from workbench.services.files.replaced import MOST, Replaced


def test_only_the_last_fifty_are_kept(tmp_path: Path) -> None:
    replaced = Replaced(tmp_path / "replaced")
    for number in range(MOST + 5):
        os.utime(replaced.keep(tmp_path / "x", str(number).encode()), (number, number))
    assert sorted(int(copy.read_bytes()) for copy in replaced.copies()) == list(range(5, MOST + 5))
