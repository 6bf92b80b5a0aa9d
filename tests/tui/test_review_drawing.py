"""What Review draws, as values: folded diffs, the words two texts share, the pace."""

import pytest
from textual.content import Content

from workbench.tui.review.inbox import folded, overlap
from workbench.tui.widgets.content import word_diff

LONG = " ".join(f"word{n}" for n in range(300))


def test_a_short_diff_is_left_as_it_is() -> None:
    short = word_diff("one two three", "one 2 three")
    assert folded(short).plain == short.plain
    same = Content(LONG)
    assert folded(same).plain == LONG


@pytest.mark.parametrize("around", [20, 120])
def test_long_shared_runs_fold_and_every_change_stays(around: int) -> None:
    old, new = f"{LONG} yes {LONG} red {LONG}", f"{LONG} no {LONG} blue {LONG}"
    whole = word_diff(old, new)
    shown = folded(whole, around)
    assert shown.plain.count("…") == 3
    assert len(shown.plain) < 4 * around + 80
    for change in ("[-yes-]{+no+}", "[-red-]{+blue+}"):
        assert change in shown.plain
    styled = [shown.plain[s.start : s.end] for s in shown.spans]
    assert {"[-yes-]", "{+no+}"} < set(styled), "the styles stay on their words"
    assert all(part.startswith("word") for part in shown.plain.split("…")[1].split(" ")[1:2])


def test_overlap_counts_words_in_order() -> None:
    assert overlap("Clear the cache after the commit", "clear the cache after every commit") > 0.8
    assert overlap("one two three", "three two one") < 0.5
    assert overlap("", "") == 1.0
