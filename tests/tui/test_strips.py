"""Lines that make their caches when they are used: the same lines, of fewer objects."""

import subprocess
import sys

from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from workbench.tui.widgets.lists import strips
from workbench.tui.widgets.lists.strips import lighten


def line() -> Strip:
    return Strip([Segment("one "), Segment("漢字 two", Style(bold=True)), Segment(" three")], 19)


def said() -> list[object]:
    """Return what a line answers whose every cache is asked twice."""
    one, asked = line(), []
    for _ in range(2):
        asked += [
            [str(part) for part in one.divide([3, 7, 19])],
            str(one.crop(2, 9)),
            str(one.apply_style(Style(italic=True))),
            str(one.adjust_cell_length(25)),
            str(one.crop_extend(1, 24, None)),
            str(one.apply_offsets(3, 4)),
            one.render(Console(color_system=None)),
            one.cell_count,
            sorted(one.link_ids, key=str),
        ]
    return asked


def test_a_light_line_is_the_line_that_the_library_makes() -> None:
    told = subprocess.run(
        [sys.executable, "-c", "from tests.tui.test_strips import said; print(said())"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    lighten()
    assert f"{said()}\n" == told


def test_a_light_line_has_no_cache_before_somebody_asks_for_it() -> None:
    lighten()
    one = line()
    kept = {name: Strip.__dict__[name] for name in strips._CACHES}
    assert {type(slot) for slot in kept.values()} == {strips._OnDemand}, "the library makes its lines otherwise by now"
    assert not [name for name, slot in kept.items() if _has(slot, one)]
    assert one.crop(1, 3) is one.crop(1, 3)
    assert [name for name, slot in kept.items() if _has(slot, one)] == ["_crop_cache"]


def _has(slot: "strips._OnDemand", one: Strip) -> bool:
    try:
        slot._slot.__get__(one, Strip)
    except AttributeError:
        return False
    return True
