"""Episodes in a store: kept as they were, masked before they are named, corrected by a person,
found, given, erased.
"""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle.ranking import score
from tests.services.conftest import NOON, Clock, Open, holding
from tests.services.experienced import KEY, ORDER, meta, said
from workbench.core.agents.actors import AgentSettings
from workbench.core.agents.episodes.criteria import (
    PHASES,
    Criteria,
    Digest,
    EpisodeCluster,
    phase_of,
)
from workbench.core.agents.episodes.episode import OUTCOMES, STATUSES, Episode
from workbench.core.agents.read import AgentRead
from workbench.core.record import (
    InvalidQuery,
    InvalidRecord,
    UnknownRecord,
    UnreadableFile,
    WorkbenchError,
)
from workbench.core.tuning.episodic import WEIGHTS, use_of
from workbench.services.agents.episode_finding import EpisodePool, FoundEpisode, fitting
from workbench.services.agents.episodes import (
    bring,
    checked_docs,
    episodes_in,
    found_in,
    write_files,
    written,
)
from workbench.services.agents.giving import EpisodeGiving
from workbench.services.agents.reading_log import Asked, keep
from workbench.services.health.doctor import examine
from workbench.services.open import Workbench
from workbench.store.blobs import BlobProblem


def kept(bench: Workbench, *docs: dict[str, Any]) -> list[Episode]:
    return [one.episode for one in bench.episodes.store_all(docs)]


def tasks(found: tuple[FoundEpisode, ...]) -> list[str]:
    return [one.digest.task for one in found]


# Kept


def test_all_of_an_episode_comes_back_and_its_head_is_short(bench: Workbench) -> None:
    doc = said(
        "Move the build", session_id="s-1", execution={"trace": [{"tool": "make"}], "duration": 1.5},
        reflection={"insights": ["slow"]}, embeddings={"task_embedding": [0.25, -1]}, extra={"x": None},
        lifecycle={"access_count": 4, "last_accessed": "2026-11-20T00:00:00Z", "referenced_by": ["p"], "own": 1},
        **meta(domain="ci", task_type="move", tags=["a"]),
    )  # fmt: skip
    (head,) = kept(bench, doc)
    assert head.id == "ep-20261121-0000001"
    assert head.type == "move"
    assert head.domain == "ci"
    assert head.tags == ("a",)
    assert head.at == NOON
    opened = bench.episodes.open(head.id)
    whole = opened.doc()
    assert {
        name: value for name, value in whole.items() if name not in ("lifecycle", "episode_id")
    } == {name: value for name, value in doc.items() if name != "lifecycle"}
    assert whole["lifecycle"] == {**doc["lifecycle"], "archival_status": "active"}
    assert "trace" not in json.dumps(opened.doc(trace=False))
    assert opened.phase == "active"
    assert opened.is_closed is False
    assert opened.notes == ()


def test_what_is_there_word_for_word_is_left_and_what_differs_is_refused(bench: Workbench) -> None:
    doc = {"episode_id": "mine-1", **said("One task")}
    first, again = bench.episodes.store(doc), bench.episodes.store(doc)
    assert first.is_new is True
    assert again.is_new is False
    assert again.episode == first.episode
    rev = bench.library.revision
    with pytest.raises(InvalidRecord, match="mine-1 already exists"):
        bench.episodes.store_all(
            [said("another"), {**doc, "task": {"original_input": "Other words"}}]
        )
    assert bench.library.revision == rev
    assert len(bench.episodes.all()) == 1


def test_secrets_are_masked_before_the_hash_and_nothing_of_them_is_in_any_file(
    bench: Workbench,
) -> None:
    stored = bench.episodes.store(
        said(f"Use {KEY} to log in", execution={"trace": [{KEY: [KEY]}]}, **meta(domain=KEY))
    )
    assert stored.masked
    library = bench.library
    library.save_checkpoint()
    assert holding(library.folder, KEY) == []
    assert KEY not in json.dumps(bench.episodes.open(stored.episode.id).doc())
    assert bench.episodes.store(said("plain")).masked == ()


def test_a_person_corrects_and_takes_it_back(bench: Workbench, clock: Clock) -> None:
    (head,) = kept(bench, said("A task", **meta(tags=["a"])))
    bench.episodes.note(head.id, f"  Used {KEY} twice.  ")
    (note,) = bench.episodes.notes(head.id)
    assert (note.text, note.at) == ("Used [secret: AWS key] twice.", NOON) or KEY not in note.text
    assert bench.episodes.tag(head.id, ["b"], ["a"]).tags == ("b",)
    assert bench.episodes.open(head.id).doc()["metadata"] == {"tags": ["a", "b"]}
    clock.advance(hours=1)
    assert bench.episodes.delete(head.id).deleted_at == NOON + timedelta(hours=1)
    assert bench.episode_finder.listed(Criteria()) == []
    assert bench.episodes.restore(head.id).status == "active"
    for _ in range(4):
        bench.history.undo()
    assert bench.episodes.get(head.id) == head
    assert bench.episodes.notes(head.id) == ()
    bench.history.undo()
    assert bench.episodes.all() == []
    bench.history.redo()
    assert bench.episodes.open(head.id).body.task == "A task"
    with pytest.raises(InvalidRecord, match="A note has"):
        bench.episodes.note(head.id, " ")
    with pytest.raises(UnknownRecord):
        bench.episodes.delete("ep-none")


def test_what_two_processes_store_at_once_has_two_names(open_bench: Open) -> None:
    one, other = open_bench(), open_bench("agent:x")
    ids = {
        side.episodes.store(said(f"task {n}")).episode.id for n in range(3) for side in (one, other)
    }
    assert len(ids) == 6


# Found


@pytest.fixture
def filled(bench: Workbench) -> Workbench:
    kept(
        bench,
        said(
            "Add token authentication to the web service",
            days=3,
            session_id="s-1",
            **meta(domain="python", task_type="feature", tools_used=["pytest"]),
        ),
        said(
            "Add token authentication to the web service",
            "FAILURE",
            days=4,
            **meta(domain="python", task_type="feature"),
        ),
        said(
            "Package installation fails on the build runner",
            days=40,
            outcome={
                "status": "FAILURE",
                "primary_output": "ModuleNotFoundError: No module named jwt",
            },
            **meta(domain="ci", task_type="fix", tags=["flaky"]),
        ),
        said(
            "Make the installation of packages work on the runner",
            days=45,
            reflection={
                "failures_analyzed": ["No module named jwt"],
                "insights": ["install first"],
            },
            **meta(domain="ci", task_type="fix"),
        ),
        said("Add token authentication to the old web service", days=200, **meta(domain="php")),
        said("Add token authentication to the first web service", days=400, **meta(domain="perl")),
    )
    return bench


def test_by_meaning_the_score_is_the_printed_sum_and_says_how(filled: Workbench) -> None:
    answer = filled.episode_finder.find("token authentication for the python web service")
    assert [one.episode.outcome for one in answer.found[:2]] == ["SUCCESS", "FAILURE"]
    for one in answer.found:
        assert one.terms is not None
        assert one.total == pytest.approx(score(one.terms))
        assert one.terms.recency == pytest.approx(np.exp(-one.age_days / 30))
        assert {part.term: part.weight for part in one.parts} == dict(WEIGHTS)
    assert answer.found[0].terms is not None
    assert answer.found[0].terms.domain == 1.0
    assert answer.found[0].terms.success == 1.0
    assert [one.total for one in answer.found] == sorted(
        (one.total for one in answer.found), reverse=True
    )
    assert not any("first" in task for task in tasks(answer.found))
    assert filled.episode_finder.find("zebra crossing recipe").found == ()


def test_in_a_language_that_the_model_does_not_know_words_find_them(filled: Workbench) -> None:
    kept(filled, said("миграция базы зависла на индексе"), said("очередь картинок переполнена"))
    assert tasks(filled.episode_finder.find("миграция базы").found) == [
        "миграция базы зависла на индексе"
    ]
    assert filled.episode_finder.find("сколько звёзд на небе").found == ()


def test_by_attributes_by_both_and_by_time(filled: Workbench) -> None:
    """Which heads criteria mean is said below; here is what each way of asking makes of them."""
    find, recent = filled.episode_finder.find, filled.episode_finder.recent
    for alone in (Criteria(session="s-1"), Criteria(tool="pytest"), Criteria(tag="Flaky")):
        assert len(find("", "structured", alone).found) == 1
    both = find("token authentication web service", "hybrid", Criteria(domain="python"))
    assert {one.episode.domain for one in both.found} == {"python"}
    first = "Add token authentication to the first web service"
    assert first in tasks(find("token authentication", criteria=Criteria(every=True)).found)
    assert [one.age_days for one in recent(2).found] == [3.0, 4.0]
    since = recent(9, Criteria(since=NOON - timedelta(days=45)))
    assert [one.age_days for one in since.found] == [3, 4, 40, 45]
    until = recent(9, Criteria(until=NOON - timedelta(days=40), every=True))
    assert until.found[-1].age_days == 400


def test_by_failure_what_failed_alike_comes_with_what_they_share(filled: Workbench) -> None:
    found = filled.episode_finder.find(
        "No module named 'jwt'\nModuleNotFoundError", "failure"
    ).found
    assert {one.episode.domain for one in found} == {"ci"}
    assert {one.episode.outcome for one in found} == {"SUCCESS", "FAILURE"}
    assert all(one.shared for one in found if "error" in str(one.digest.signature))


@pytest.mark.parametrize(
    ("query", "strategy", "criteria"),
    [("", "semantic", Criteria()), ("", "failure", Criteria()), ("", "hybrid", Criteria(domain="x")),
     ("x", "hybrid", Criteria()), ("", "structured", Criteria()), ("x", "semantic", Criteria(outcome="fine")),
     ("x", "semantic", Criteria(phase="young")), ("x" * 5_000, "semantic", Criteria())],
)  # fmt: skip
def test_what_a_strategy_lacks_is_said(
    bench: Workbench, query: str, strategy: Any, criteria: Criteria
) -> None:
    with pytest.raises(InvalidQuery):
        bench.episode_finder.find(query, strategy, criteria)


def test_an_empty_store_finds_nothing_and_what_changes_is_followed(
    bench: Workbench, open_bench: Open
) -> None:
    find = bench.episode_finder.find
    assert (
        find("token authentication").found
        == find("", "temporal").found
        == find("x", "failure").found
        == ()
    )
    other = open_bench("agent:x")
    head = other.episodes.store(said("Add token authentication")).episode
    assert tasks(find("token authentication").found) == ["Add token authentication"]
    giving(other).get(head.id)
    (one,) = find("token authentication").found
    assert one.terms is not None
    assert one.terms.use == pytest.approx(use_of(1))
    bench.episodes.delete(head.id)
    assert find("token authentication").found == ()


def test_without_its_file_an_episode_is_found_by_its_head_and_named_by_the_doctor(
    filled: Workbench,
) -> None:
    head = next(one for one in filled.episodes.all() if one.domain == "python")
    filled.library.blobs.remove((head.hash,))
    with pytest.raises(BlobProblem):
        filled.episodes.open(head.id)
    assert head.id in [
        one.episode.id
        for one in filled.episode_finder.find("", "structured", Criteria(domain="python")).found
    ]
    diagnosis = examine(filled.library.folder)
    assert [bad.key for bad in diagnosis.blobs] == [head.id]
    assert not filled.care.findings(diagnosis).is_clean


names = st.sampled_from(["", "a", "B", "b"])


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(-5, 500),
            st.sampled_from(OUTCOMES),
            st.sampled_from(STATUSES),
            names,
            names,
            names,
        ),
        max_size=12,
    ),
    st.builds(
        Criteria,
        domain=names,
        type=names,
        outcome=st.sampled_from(["", "success", "PARTIAL"]),
        tag=names,
        phase=st.sampled_from(["", *PHASES]),
        session=names,
        tool=names,
        since=st.sampled_from([None, NOON - timedelta(days=60)]),
        until=st.sampled_from([None, NOON - timedelta(days=10)]),
        prefer_recent=st.booleans(),
        only_successful=st.booleans(),
        every=st.booleans(),
    ),
)
def test_over_columns_the_same_are_meant_as_one_by_one(rows: list[Any], criteria: Criteria) -> None:
    heads = [
        Episode(
            f"e{n}",
            NOON - timedelta(days=days),
            outcome,
            "0",
            domain,
            of,
            status,
            (of,) if of else (),
        )
        for n, (days, outcome, status, domain, of, _) in enumerate(rows)
    ]
    digests = [Digest("", "", "", "", name, "", "", (name,), (), ()) for *_, name in rows]
    pool = EpisodePool(heads, digests, lambda texts, *_: np.zeros((len(texts), 1), np.float32))
    one_by_one = [
        _is_meant(head, criteria)
        and all(
            asked.casefold() in ("", name.casefold()) for asked in (criteria.tool, criteria.session)
        )
        for head, (*_, name) in zip(heads, rows, strict=True)
    ]
    assert fitting(pool, criteria, NOON).tolist() == one_by_one


def _is_meant(head: Episode, criteria: Criteria) -> bool:
    phase, asked = phase_of(head, NOON), criteria.phase
    since = max(
        criteria.since or head.at, NOON - timedelta(days=30) if criteria.prefer_recent else head.at
    )
    named = (
        (criteria.domain, head.domain),
        (criteria.type, head.type),
        (criteria.outcome, head.outcome),
    )
    return (
        (
            phase == asked
            if asked
            else phase != "deleted"
            if criteria.every
            else phase in ("active", "mature", "aged")
        )
        and since <= head.at <= min(NOON, criteria.until or NOON)
        and (head.outcome == "SUCCESS" or not criteria.only_successful)
        and all(wanted.casefold() in ("", had.casefold()) for wanted, had in named)
        and (not criteria.tag or criteria.tag.casefold() in [tag.casefold() for tag in head.tags])
    )


# Given to agents


def giving(bench: Workbench) -> EpisodeGiving:
    return EpisodeGiving(
        bench.context, bench.episode_finder, bench.safety, Asked("mcp", "s-9"), lambda read: keep(bench.context, [read])
    )  # fmt: skip


def test_an_agent_is_given_what_it_may_have_with_its_origin_and_it_is_counted(
    filled: Workbench, open_bench: Open
) -> None:
    kept(
        filled,
        said(f"Add token authentication. {ORDER}"),
        said("Add token authentication now", **meta(domain=ORDER)),
    )
    agent = open_bench("agent:claude")
    answer = giving(agent).find("token authentication web service", "semantic", Criteria(), 9)
    rows: Any = answer["episodes"]
    assert len(rows) > 1
    assert answer["left_out"] == {"held": 2}
    assert all(row["text"].startswith("Task: ") and row["provenance"]["approved"] for row in rows)
    use = agent.episodes.use_of(rows[0]["id"])
    assert use.access_count == 1
    assert use.referenced_by == ()
    (read,) = agent.library.table(AgentRead).all()
    assert read.episodes == tuple(row["id"] for row in rows)
    assert read.agent == "claude"
    assert read.session == "s-9"
    assert read.door == "mcp"
    with agent.library.transaction("human", "refer") as tx:
        agent.episodes.refer(tx, [rows[0]["id"]] * 2, "pat-1")
    use = agent.episodes.use_of(rows[0]["id"])
    assert use.access_count == 1
    assert use.referenced_by == ("pat-1",)


def test_what_no_person_stands_by_is_in_a_block_and_whole_ones_are_masked(
    filled: Workbench, open_bench: Open
) -> None:
    agent = open_bench("agent:claude")
    head = agent.episodes.store(said("Rotate the certificates of the gateway", days=1)).episode
    given = giving(agent).get(head.id)
    assert str(given["episode"]).startswith("[unreviewed ")
    assert "written by the agent claude" in str(given["episode"])
    with pytest.raises(InvalidQuery, match="is served to agents"):
        giving(agent).get("ep-none")
    filled.library.refresh()
    filled.episodes.delete(head.id)
    with pytest.raises(InvalidQuery, match="is served to agents"):
        giving(agent).get(head.id)
    with pytest.raises(InvalidQuery, match="not served"):
        giving(agent).find("", "structured", Criteria(phase="deleted"), 5)


def test_a_person_finds_such_an_order_and_lets_the_episode_pass_as_it_is(
    filled: Workbench, open_bench: Open
) -> None:
    doc = said("Rotate the keys of the gateway", execution={"trace": [{"output": ORDER}]})
    (head,) = kept(filled, doc)
    assert [held.id for held in filled.safety.flagged()] == [head.id]
    agent = open_bench("agent:claude")
    with pytest.raises(InvalidQuery, match="is served to agents"):
        giving(agent).get(head.id)
    filled.safety.allow(head.id, "it is what a log said")
    agent.library.refresh()
    assert ORDER in str(giving(agent).get(head.id, trace=True)["episode"])
    filled.safety.withdraw(head.id)
    agent.library.refresh()
    with pytest.raises(InvalidQuery, match="is served to agents"):
        giving(agent).get(head.id)


def test_what_a_person_approves_is_given_to_who_gets_only_that(
    filled: Workbench, open_bench: Open
) -> None:
    agent = open_bench("agent:claude")
    head = agent.episodes.store(said("Rotate the certificates of the gateway", days=1)).episode
    settings = agent.context.settings._replace(agents=AgentSettings("approved"))
    wary = replace(agent.context, settings=settings)

    def is_given() -> bool:
        agent.library.refresh()
        only = EpisodeGiving(wary, agent.episode_finder, agent.safety, Asked("mcp"), print)
        rows: Any = only.find("rotate certificates gateway", "semantic", Criteria(), 3)["episodes"]
        return head.id in [row["id"] for row in rows]

    assert not is_given()
    filled.library.refresh()
    filled.episodes.approve(head.id)
    assert is_given()
    filled.episodes.approve(head.id, withdraw=True)
    assert not is_given()
    filled.history.undo()
    assert is_given()


# Files


def test_files_of_agent_playbook_come_in_and_go_out_as_they_were(
    bench: Workbench, tmp_path: Path
) -> None:
    doc = {
        "id": "ep-2026-11-11-001", "timestamp": "2026-11-11", "skill": "debugger", "situation": "Data is not refreshed",
        "root_cause": "An empty callback", "solution": "Call it", "lesson": "Look at callbacks",
        "related_pattern": "callbacks", "user_feedback": {"rating": 8}, "own": [1],
    }  # fmt: skip
    folder = tmp_path / "episodic" / "2026"
    folder.mkdir(parents=True)
    (folder / "a.json").write_text(json.dumps(doc))
    (folder / "b.json").write_text(
        json.dumps({**doc, "id": "b", "solution": "", "outcome": "failed"})
    )
    (folder / "link.json").symlink_to(folder / "a.json")
    brought = bring(bench.context, found_in(tmp_path / "episodic"), "episodic")
    assert [one.episode.outcome for one in brought.stored] == ["SUCCESS", "FAILURE"]
    opened = bench.episodes.open("ep-2026-11-11-001")
    assert opened.body.task == "Data is not refreshed"
    assert opened.episode.type == "debugger"
    out = list(written(bench.context, ["ep-2026-11-11-001", "b"], "agent-playbook"))
    assert [one for _, one in out] == [doc, {**doc, "id": "b", "solution": "", "outcome": "failed"}]
    assert [name for name, _ in out] == [
        "2026/2026-11-11-data-is-not-refreshed.json",
        "2026/2026-11-11-data-is-not-refreshed-2.json",
    ]
    paths = write_files(tmp_path / "out", out)
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in paths)
    with pytest.raises(UnreadableFile, match="already exists"):
        write_files(tmp_path / "out", out)
    bench.history.undo()
    assert bench.episodes.all() == []


def test_what_is_written_is_read_as_the_same(
    filled: Workbench, tmp_path: Path, open_bench: Open
) -> None:
    def heads(bench: Workbench) -> set[tuple[object, ...]]:
        known = bench.episodes
        return {(e.id, e.outcome, e.at, e.domain, known.open(e.id).body.task) for e in known.all()}

    ids = [one.id for one in filled.episodes.all()]
    docs = [doc for _, doc in written(filled.context, ids, "episode")]
    texts = json.dumps(docs), "\n".join(map(json.dumps, docs)), json.dumps({"episodes": docs})
    for number, text in enumerate(texts):
        again = open_bench(folder=tmp_path / f"other-{number}")
        bring(again.context, checked_docs(episodes_in(text, "f"), "f"), "f")
        assert heads(again) == heads(filled)
    ((_, over),) = written(filled.context, ids[:1], "agent-playbook")
    assert checked_docs(episodes_in(json.dumps(over), "f"), "f")[0].dialect == "agent-playbook"


@pytest.mark.parametrize(
    ("text", "match"),
    [("", "is no JSON"), ("{", "is no JSON"), ('{"task": NaN}', "NaN is no JSON"), ("[]", "contains no episode"),
     ("[" * 100_000, "is no JSON"), ('[{"task": 1}]', r"f\[0\]: .*task: expected an object"),
     ('{"task":{"original_input":"x"},"outcome":{"status":"SUCCESS"}}\n{"task":2}\n', r"f:2: ")],
    ids=["nothing", "cut", "nan", "empty", "deep", "list", "lines"],
)  # fmt: skip
def test_what_a_file_does_not_hold_is_named(text: str, match: str) -> None:
    with pytest.raises(WorkbenchError, match=match):
        checked_docs(episodes_in(text, "f"), "f")


# Erased and masked for good


def test_a_purge_takes_all_of_an_episode(filled: Workbench) -> None:
    head = filled.episodes.all()[0]
    filled.episodes.note(head.id, "A note on it.")
    with filled.library.transaction("human", "refer") as tx:
        filled.episodes.refer(tx, [head.id], "pat-1")
    filled.eraser.carry_out(filled.eraser.plan([head.id]))
    assert head.id not in [one.id for one in filled.episodes.all()]
    assert filled.episodes.notes(head.id) == ()
    assert filled.episodes.uses() == {}
    assert head.hash not in filled.library.blobs.names()
    with pytest.raises(WorkbenchError, match="cannot be undone"):
        filled.history.undo()


def test_masking_for_good_writes_a_new_file_and_leaves_a_note_of_the_old_one(
    filled: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "workbench.services.safety.secret_filter.SecretFilter.cleaned",
        lambda self, text, *known: text,
    )
    (head,) = kept(
        filled, said(f"Use the key {KEY} for the upload", reflection={"insights": [KEY]})
    )
    monkeypatch.undo()
    filled.episodes.tag(head.id, ["later"])
    (leak,) = [leak for leak in filled.leaks.find(()) if leak.secret == KEY]
    assert leak.place.startswith(f"episodes {head.id}, ")
    filled.leaks.mask(())
    now = filled.episodes.get(head.id)
    assert now.hash != head.hash
    assert now.tags == ("later",)
    assert KEY not in json.dumps(filled.episodes.open(head.id).doc())
    assert head.hash not in filled.library.blobs.names()
    assert filled.library.blobs.replaced() == {head.hash: now.hash}
    assert filled.leaks.find(()) == ()
    assert examine(filled.library.folder).blobs == ()
    assert filled.history.at_revision(("episodes", head.id), filled.library.revision) == now
    assert replace(now, tags=()) != head


# Consolidated


def test_what_says_the_same_is_put_under_the_latest_and_what_says_the_opposite_is_not(
    bench: Workbench,
) -> None:
    task, same = "Move the nightly build to the new runner", meta(domain="ci", task_type="move")
    kept(
        bench,
        *(said(task, days=40 + n, execution={"duration": 10.0 * n}, **same) for n in range(3)),
        said("Do not move the nightly build to the new runner", days=41, **same),
        said(task, "FAILURE", days=41, **same),
        said(task, days=90, **same),
        said(task, days=2, **same),
        said(task, days=41, **meta(domain="other", task_type="move")),
    )
    consolidation = bench.episode_finder.consolidation
    plan = consolidation.plan()
    (cluster,) = plan.clusters
    assert plan.looked == 7
    assert len(cluster.members) == 3
    assert len(plan.archived) == 2
    assert cluster.average_duration == 10.0
    assert cluster.representative not in plan.archived
    assert cluster.last_at == NOON - timedelta(days=40)
    assert cluster.first_at == NOON - timedelta(days=42)
    assert [one.duration for one in cluster.variations] == [10.0, 20.0]
    consolidation.carry_out(plan)
    assert {bench.episodes.get(id).status for id in plan.archived} == {"archived"}
    assert bench.episodes.use_of(cluster.representative).referenced_by == (cluster.id,)
    assert bench.library.table(EpisodeCluster).all() == [cluster]
    assert bench.episodes.open(plan.archived[0]).body.task == task
    assert bench.episode_finder.consolidation.plan().clusters == ()
    bench.history.undo()
    assert consolidation.plan() == plan
    consolidation.carry_out(plan)
    bench.eraser.carry_out(bench.eraser.plan([plan.archived[0]]))
    assert bench.library.table(EpisodeCluster).all() == []


def test_what_a_search_needs_is_made_with_progress_and_what_a_stop_leaves_is_kept(
    filled: Workbench, open_bench: Open
) -> None:
    told = list[tuple[int, int]]()
    with pytest.raises(WorkbenchError, match="was stopped"):
        filled.episode_finder.prepare("semantic", lambda *at: told.append(at), lambda: True)
    filled.episode_finder.prepare("semantic", lambda *at: told.append(at), lambda: False)
    assert told[0] == (0, len(filled.episodes.all()))
    assert all(done <= every for done, every in told)
    pool = filled.retriever.episodes.pool()
    again = open_bench()
    again.episode_finder.prepare("failure", lambda *at: None, lambda: False)
    assert len(again.retriever.episodes.pool().vectors("failures")) == len(pool.failing)
