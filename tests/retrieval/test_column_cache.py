"""A cache between threads: each value is made once, and nobody waits for what somebody else wants."""

from threading import Event, Thread

import numpy as np
import pytest

from workbench.retrieval.ranking.cases import ColumnCache


def test_who_wants_another_value_does_not_wait() -> None:
    cache, begun, go_on = ColumnCache(), Event(), Event()

    def slowly() -> str:
        begun.set()
        assert go_on.wait(60)
        return "slow"

    other = Thread(target=cache.get, args=("slow", slowly))
    other.start()
    assert begun.wait(60)
    assert cache.get("quick", lambda: "quick") == "quick"
    go_on.set()
    other.join()
    assert cache.get("slow", lambda: "made again") == "slow"


def test_who_wants_the_same_value_waits_for_it() -> None:
    cache, made, found = ColumnCache(), [], []
    begun, go_on = Event(), Event()

    def slowly() -> str:
        made.append(1)
        begun.set()
        assert go_on.wait(60)
        return "value"

    askers = [Thread(target=lambda: found.append(cache.get("key", slowly))) for _ in range(4)]
    for asker in askers:
        asker.start()
    assert begun.wait(60)
    go_on.set()
    for asker in askers:
        asker.join()
    assert (made, found) == ([1], ["value"] * 4)


def test_what_could_not_be_made_is_made_by_the_next() -> None:
    cache = ColumnCache()
    with pytest.raises(ZeroDivisionError):
        cache.get("key", lambda: str(1 // 0))
    assert cache.get("key", lambda: "value") == "value"


def test_a_value_may_be_made_of_others_and_the_oldest_go() -> None:
    cache = ColumnCache(limit=100)
    assert cache.get("all", lambda: cache.get("part", lambda: "part") + "!") == "part!"
    cache.get("some", lambda: (np.zeros(5), {"more": np.zeros(5)}))
    assert cache.get("part", lambda: "anew") == "part"
    cache.get("next", lambda: np.zeros(8))
    assert cache.get("all", lambda: "anew") == "anew"
    assert cache.get("part", lambda: "anew") == "part"
    assert len(cache.get("some", lambda: "anew")) == 4
