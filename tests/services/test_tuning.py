"""Which saved queries are meant by the words somebody types."""

from datetime import timedelta

from tests.services.conftest import NOON
from workbench.services.open import Workbench

WORDS = "when did she move"


def test_the_one_for_the_present_comes_first_then_the_latest_moment(bench: Workbench) -> None:
    early, late = NOON - timedelta(days=9), NOON - timedelta(days=2)
    for now in (early, None, late):
        bench.judging.save_query(WORDS, now)
    bench.judging.save_query("something else")
    assert [q.now for q in bench.tuning.saved_like(WORDS)] == [None, late, early]


def test_white_space_and_what_cannot_be_seen_make_no_other_query(bench: Workbench) -> None:
    saved = bench.judging.save_query("host\u202e  name ")
    assert bench.tuning.saved_like(" host\u202e name") == (saved,)
    assert bench.tuning.saved_like("Host name") == ()
    assert bench.tuning.saved_like("   ") == ()
