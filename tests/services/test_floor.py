"""The floor of a store: computed once and kept, again when the store is another, and what an agent
is not given.
"""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tests.benchmarks.languages import DATA, read
from tests.services.conftest import Clock, Open, files_in, memory, put
from tests.services.small_stores import ANSWERED, UNRELATED
from workbench.config.loading import Settings
from workbench.core.tuning.floor import BY_WORDS, NONE, OFF, UNKNOWN, Floor, relevance
from workbench.core.tuning.profile import BUILT_IN
from workbench.services.agents.serving import give, look, serve
from workbench.services.open import Workbench, open_workbench
from workbench.services.tuning.floors import against

OFF_TOPIC = "recipe for lasagne"
ON_TOPIC = "who may write to customers during an outage"


def floor_of(bench: Workbench) -> Floor:
    floor = bench.tuning.floors.settled().floor
    assert floor is not None
    return floor


def test_it_is_computed_once_and_kept_beside_the_other_caches(
    demo: Workbench, open_bench: Open
) -> None:
    assert demo.tuning.floors.known() == UNKNOWN
    before = files_in(demo.library.folder)
    floor = floor_of(demo)
    assert demo.tuning.floors.known().floor == floor
    assert files_in(demo.library.folder) == before
    assert len(list((demo.context.caches / "floor").iterdir())) == 1
    assert open_bench().tuning.floors.known().floor == floor


def test_small_stores_answer_what_they_hold_and_little_else(tmp_path: Path, clock: Clock) -> None:
    sizes = (3, 5, 8, 11, 14, 17, 20, 23, 26, 29)
    answered, served = 0, 0
    for size in sizes:
        bench = open_workbench(
            tmp_path / f"{size}", profiles=tmp_path / "p", actor="agent:claude", clock=clock
        )
        chosen = Random(size).sample(ANSWERED, size)
        put(bench, *[memory(f"m{n:02d}", text, clock.at) for n, (text, _) in enumerate(chosen)])

        def given(query: str, bench: Workbench = bench) -> tuple[str, ...]:
            tuning = bench.tuning
            return give(
                bench.context, tuning, query, None, tuning.default(), bench.safety
            ).ranking.ids

        answered += sum(bool(given(query)) for query in UNRELATED)
        served += sum(f"m{n:02d}" in given(query) for n, (_, query) in enumerate(chosen))
        bench.close()
    assert answered <= 0.1 * len(sizes) * len(UNRELATED)
    assert served >= 0.9 * sum(sizes)


def test_a_store_that_serves_nothing_has_none(bench: Workbench, clock: Clock) -> None:
    assert bench.tuning.floors.settled() == NONE
    put(bench, memory("hidden", "waits for review", clock.at, status="candidate"))
    assert bench.tuning.floors.settled() == NONE
    put(bench, memory("only", "one note about the build", clock.at))
    assert bench.tuning.floors.known() == UNKNOWN
    assert bench.tuning.floors.settled().floor is not None


@pytest.mark.slow
def test_no_profile_and_no_candidate_filter_moves_a_verdict(demo: Workbench) -> None:
    question = (demo.tuning.floors.settled(), demo.tuning.question(ON_TOPIC))[1]
    profiles = [
        *BUILT_IN,
        replace(BUILT_IN[0], candidates="type:error"),
        replace(BUILT_IN[0], blend=0.0),
    ]
    rankings = [question.rank(profile, demo.context.now(), 300) for profile in profiles]
    found = [against(question.standard, question.scores, ranking) for ranking in rankings]
    assert len({one.verdict for one in found}) == 1
    for one, ranking in zip(found, rankings, strict=True):
        assert not one.empty
        for id in ranking.ids:
            assert one.relevance(id) == pytest.approx(relevance(*one.scores_of(id)))
            assert one.is_weak(id) == (one.relevance(id) < floor_of(demo).memory)


def test_a_person_sees_everything_and_is_told(demo: Workbench) -> None:
    seen = look(demo.tuning, OFF_TOPIC, None, demo.tuning.default(), demo.context.now())
    assert seen.floor.empty
    assert len(seen.top) == demo.tuning.default().k
    assert all(seen.floor.is_weak(id) for id in seen.ranking.ids)
    assert not look(
        demo.tuning, ON_TOPIC, None, demo.tuning.default(), demo.context.now()
    ).floor.empty


def test_an_agent_is_given_nothing_where_nothing_is_relevant_and_nothing_counts_as_read(
    demo: Workbench, open_bench: Open
) -> None:
    agent = open_bench("agent:claude")
    before = agent.library.memories.all()
    served = serve(agent.context, agent.tuning, OFF_TOPIC, None, agent.tuning.default())
    assert served.floor.empty
    assert served.top == ()
    assert served.ranking.ids == ()
    assert served.held == 0
    assert served.weak == 0
    assert agent.library.memories.all() == before


@pytest.mark.slow
def test_weak_memories_are_left_out_and_counted_also_pinned_ones(
    demo: Workbench, open_bench: Open
) -> None:
    seen = look(demo.tuning, ON_TOPIC, 40, demo.tuning.default(), demo.context.now())
    weak = [id for id in seen.ranking.ids if seen.floor.is_weak(id)]
    assert 0 < len(weak) < 40
    put(demo, replace(demo.stream.get(weak[0]), pinned=True))
    agent = open_bench("agent:claude")
    again = look(agent.tuning, ON_TOPIC, 40, agent.tuning.default(), agent.context.now())
    before = {id: agent.stream.get(id).access_count for id in again.ranking.ids}
    served = serve(agent.context, agent.tuning, ON_TOPIC, 40, agent.tuning.default())
    assert agent.stream.get(weak[0]).pinned
    assert weak[0] not in served.ranking.ids
    assert served.weak == sum(map(again.floor.is_weak, again.ranking.ids)) == 40 - len(served.top)
    assert [scored.memory.id for scored in served.top] == list(served.ranking.ids)
    assert [id for id in again.ranking.ids if not again.floor.is_weak(id)] == list(
        served.ranking.ids
    )
    read = {id: agent.stream.get(id).access_count - before[id] for id in again.ranking.ids}
    assert read == {id: int(id in served.ranking.ids) for id in again.ranking.ids}


@pytest.mark.slow
def test_turned_off_everything_is_as_without(demo: Workbench, tmp_path: Path, clock: Clock) -> None:
    floor_of(demo)
    context = replace(demo.context, actor="agent:claude", settings=Settings(floor=False))
    bench = open_workbench(
        demo.library.folder,
        profiles=tmp_path / "p",
        settings=context.settings,
        actor=context.actor,
        clock=clock,
    )
    assert bench.tuning.floors.settled() == bench.tuning.floors.known() == OFF
    served = serve(bench.context, bench.tuning, OFF_TOPIC, None, bench.tuning.default())
    assert len(served.top) == bench.tuning.default().k
    assert served.weak == 0
    assert served.floor.empty is False
    bench.close()


def given(bench: Workbench, query: str) -> tuple[str, ...]:
    return give(
        bench.context, bench.tuning, query, None, bench.tuning.default(), bench.safety
    ).ranking.ids


def test_a_few_memories_in_another_script_are_found_by_their_words_alone(
    demo: Workbench, open_bench: Open, clock: Clock
) -> None:
    texts = "миграция базы запускается отдельно", "очередь картинок зависает", "ключ лежит в сейфе"
    put(demo, *[memory(f"ru{n}", text, clock.at) for n, text in enumerate(texts)])
    agent = open_bench("agent:claude")
    assert given(agent, "миграция") == ("ru0",)
    assert given(agent, "сколько звёзд на небе") == ()
    assert "ru1" not in given(agent, ON_TOPIC)
    question = agent.tuning.question("миграция")
    ranking = question.rank(agent.tuning.default(), clock.at)
    shares = {share.part.id: share for share in question.shares(ranking, "ru0")}
    assert shares["dense"].amount == 0.0
    assert shares["lexical"].times == 1.0
    assert "does not know" in shares["dense"].said


def test_each_script_has_its_own_floor_where_enough_is_written_in_it(
    demo: Workbench, clock: Clock
) -> None:
    asked = {"en": "who may write", "ru": "кто может писать", "th": "ใครเขียนได้"}
    before = {name: demo.tuning.floors.settled(query).floor for name, query in asked.items()}
    assert before["ru"] == before["th"] == BY_WORDS != before["en"]
    spoken = read(DATA / "memories" / "ru.toml")
    put(demo, *[memory(id, text, clock.at) for id, text in spoken.memories.items()])
    put(demo, *[memory(f"more{n}", f"note {n} on the build", clock.at) for n in range(20)])
    after = {name: demo.tuning.floors.settled(query).floor for name, query in asked.items()}
    assert after["th"] == BY_WORDS
    assert after["ru"] is not None
    assert not after["ru"].by_words
