"""The words that two texts share, by which Review shows a merge."""

from workbench.tui.review.inbox import overlap


def test_overlap_counts_words_in_order() -> None:
    assert overlap("Clear the cache after the commit", "clear the cache after every commit") > 0.8
    assert overlap("one two three", "three two one") < 0.5
    assert overlap("", "") == 1.0
