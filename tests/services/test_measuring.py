"""What is measured while sliders move: once for the same settings, and anew when the store changed."""

from dataclasses import replace
from pathlib import Path

import pytest

from workbench.core.record import InvalidQuery
from workbench.core.tuning.profile import BUILT_IN, WORKBENCH
from workbench.services.demo import ANCHOR
from workbench.services.open import Workbench, open_workbench
from workbench.services.tuning.measuring import Job, Measured, Measuring
from workbench.services.tuning.queries.sets import from_store
from workbench.services.tuning.session import Settings, TuningSession

ENGRAM = next(p for p in BUILT_IN if p.name == "engram")


@pytest.fixture
def measuring(demo: Workbench) -> Measuring:
    return Measuring(demo.context, demo.evaluator)


@pytest.fixture
def session() -> TuningSession:
    return TuningSession(WORKBENCH, ENGRAM, ANCHOR)


def never() -> bool:
    return False


def begun(measuring: Measuring, session: TuningSession) -> Job:
    job = measuring.begin(session)
    assert job is not None
    return job


def measured(measuring: Measuring, session: TuningSession) -> Measured:
    found = measuring.measure(begun(measuring, session), never, never)
    measuring.end(found)
    return found


@pytest.mark.slow
def test_settings_are_measured_once_and_one_at_a_time(measuring: Measuring, session: TuningSession) -> None:
    job = begun(measuring, session)
    session.move("recency", Settings(WORKBENCH))
    assert measuring.begin(session) is None
    found = measuring.measure(job, never, never)
    assert found.found is not None
    assert found.found.new.profile == ENGRAM
    measuring.end(found)
    assert begun(measuring, session).wanted.profile == WORKBENCH


@pytest.mark.slow
def test_the_same_settings_are_not_measured_twice_until_the_store_changes(
    measuring: Measuring, session: TuningSession
) -> None:
    first = measured(measuring, session)
    assert measuring.begin(session) is None
    measuring.store_changed(["votes"])
    assert measuring.begin(session) is None
    measuring.store_changed(["judgments"])
    again = begun(measuring, session)
    assert (again.live, again.known) == (None, first.live)


@pytest.mark.slow
def test_what_is_scored_is_used_for_the_next_settings(measuring: Measuring, session: TuningSession) -> None:
    first = measured(measuring, session)
    session.move("recency", Settings(WORKBENCH))
    assert begun(measuring, session).live is first.live


def test_what_was_given_up_is_measured_when_the_slider_comes_back(measuring: Measuring, session: TuningSession) -> None:
    found = measuring.measure(begun(measuring, session), never, lambda: True)
    assert (found.found, found.problem) == (None, "")
    measuring.end(found)
    assert measuring.begin(session) is not None


def test_without_judgments_there_is_nothing_to_measure_by(tmp_path: Path, session: TuningSession) -> None:
    empty = open_workbench(tmp_path / "empty", profiles=tmp_path / "profiles", clock=lambda: ANCHOR)
    measuring = Measuring(empty.context, empty.evaluator)
    assert not measuring.judged
    found = measuring.measure(begun(measuring, session), never, never)
    assert found.problem.startswith("No query of this store is judged yet.")
    with pytest.raises(InvalidQuery):
        measuring.current()
    assert measuring.birth(WORKBENCH, ENGRAM) is None
    empty.close()


@pytest.mark.slow
def test_a_saved_profile_says_what_it_was_measured_on(demo: Workbench, measuring: Measuring) -> None:
    assert measuring.birth(WORKBENCH, WORKBENCH) is None
    birth = measuring.birth(WORKBENCH, ENGRAM)
    assert birth is not None
    evaluated = demo.evaluator.evaluate(from_store(demo.context), [WORKBENCH, ENGRAM]).verdicts[0].verdict
    assert (birth.parent, birth.delta, birth.queries) == (WORKBENCH.name, evaluated.delta, evaluated.queries)


@pytest.mark.slow
def test_everybody_gets_a_set_of_their_own(measuring: Measuring) -> None:
    one, other = measuring.current(), measuring.current()
    assert one is not other
    assert one.scored is other.scored
    k = replace(WORKBENCH, k=3)
    assert one.against(WORKBENCH, k).means == other.against(WORKBENCH, k).means
