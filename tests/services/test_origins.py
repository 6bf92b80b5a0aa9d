"""Where texts come from is remembered for what did not change, and found out again for what did."""

import contextlib
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.services.conftest import Open, memory, put, write
from workbench.core.agents.read import Provenance
from workbench.core.record import WorkbenchError
from workbench.services.agents.serving import serve
from workbench.services.open import Workbench
from workbench.services.safety.provenance import learn_all, provenances
from workbench.services.safety.verdicts import Origins
from workbench.store import history


def found(bench: Workbench) -> Mapping[str, Provenance]:
    return provenances(bench.context, bench.library.memories.all())


def anew(bench: Workbench) -> Mapping[str, Provenance]:
    """What the journal says, with nothing remembered."""
    object.__setattr__(bench.context, "origins", Origins())
    return found(bench)


@pytest.mark.slow
def test_who_wrote_a_text_is_known_again_once_it_changed(demo: Workbench, open_bench: Open) -> None:
    learn_all(demo.context)
    known, agent = found(demo), open_bench("agent:claude")
    serve(agent.context, agent.tuning, "how do we deploy", 4, agent.tuning.default())
    demo.library.refresh()
    assert found(demo) == known
    first = next(iter(known))
    demo.stream.edit(first, "a person wrote this")
    assert found(demo)[first] == Provenance("person", approved=True)


def test_many_records_are_found_as_few_are(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(bench, *(memory(f"m{n}", f"text {n}") for n in range(9)))
    bench.stream.edit("m3", "by a person")
    few = anew(bench)
    monkeypatch.setattr(history, "_MANY", 3)
    assert anew(bench) == few


STEPS = ("edit", "confirm", "pin", "agent", "undo", "forget", "other")


@pytest.mark.slow
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 3)), max_size=10))
def test_what_is_remembered_is_what_the_journal_says(
    open_bench: Open, tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    folder = tmp_path_factory.mktemp("origins") / "store"
    mine, agent = open_bench("human", folder), open_bench("agent:claude", folder)
    put(
        mine,
        *(
            memory(f"m{n}", f"text {n}", status="candidate" if n % 2 else "signal")
            for n in range(4)
        ),
    )
    for number, (step, n) in enumerate(steps):
        id = f"m{n}"
        agent.library.refresh()
        known = mine.library.memories.get(id)
        if step == "edit":
            mine.stream.edit(id, f"by a person {number}")
        elif step == "confirm" and known.status == "candidate":
            mine.review.approve([id])
        elif step == "pin":
            mine.stream.pin([id])
        elif step == "agent":
            agent.stream.edit(id, f"by an agent {number}")
        elif step == "undo":
            with contextlib.suppress(
                WorkbenchError
            ):  # Nothing to undo, or somebody else changed it since
                mine.history.undo()
        elif step == "forget" and known.status != "archived":
            mine.stream.forget([id])
        elif step == "other":
            put(agent, memory(f"m{n}", f"set up anew {number}"))
        mine.library.refresh()
        remembered = found(mine)
        before = mine.context.origins
        assert remembered == anew(mine)
        object.__setattr__(mine.context, "origins", before)


@pytest.mark.parametrize("approval", [{"pinned": True}, {"status": "confirmed"}])
def test_an_approval_that_was_taken_back_is_none(
    bench: Workbench, approval: dict[str, object]
) -> None:
    written = memory("m1", "an agent wrote this")
    for actor, record in (("agent:claude", written), ("human", replace(written, **approval))):  # type: ignore[arg-type]
        write(bench, record, by=actor)
    assert found(bench)["m1"].approved
    bench.history.undo()
    assert not found(bench)["m1"].approved
    assert not anew(bench)["m1"].approved
