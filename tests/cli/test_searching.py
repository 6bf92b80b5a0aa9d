"""`workbench search`: the ranking as JSON and as lines; friendly answers where there is none; no traces."""

import json
from dataclasses import replace

import pytest

from tests.cli.conftest import NOW, Cli
from tests.cli.shared import configure
from tests.demo import MEMORIES
from workbench.config.paths import config_dir
from workbench.core.tuning.profile import RELEVANCE_PARTS, WORKBENCH
from workbench.services.tuning.profiles import Profiles

AT = ("--now", "2026-03-20T17:30")


def test_the_json_names_every_part_of_the_score(demo: Cli) -> None:
    found = demo.json("search", "webhook delivered twice", "-k", "3", "--explain", *AT)
    assert [row["rank"] for row in found] == [1, 2, 3]
    assert found == sorted(found, key=lambda row: -row["score"])
    for row in found:
        assert set(row["parts"]["raw"]) == {"recency", "importance", "relevance"}
        assert sum(row["parts"]["weighted"].values()) == pytest.approx(row["score"])
        reached = row["explain"]["floor"]["memory_reaches"]
        assert row["relevance"] == pytest.approx((reached["cosine"] + reached["lexical"]) / 2)


@pytest.mark.slow
def test_explain_tells_what_relevance_is_made_of_and_who_sets_its_bound(demo: Cli) -> None:
    asked = ("search", "deploy", "-k", "1", *AT)
    (row,) = demo.json(*asked, "--explain")
    explain, raw = row["explain"], row["parts"]["raw"]["relevance"]
    split, bound = explain["relevance"], explain["bounds"]["relevance"]
    assert list(split) == [part.id for part in RELEVANCE_PARTS]
    told = ((split["dense"] + split["lexical"]) / 2 + split["carry"]) * split["questions"]
    assert told == pytest.approx(raw)
    assert bound["high"] == raw
    assert bound["high_by"] == row["id"]
    assert "explain" not in demo.json(*asked)[0]
    assert demo.ok(*asked, "--explain").startswith("profile workbench: recency ")


@pytest.mark.slow
def test_more_than_there_is_gives_all_and_says_so(demo: Cli) -> None:
    result = demo("search", "tests", "-k", "999", *AT)
    count = len(result.out.splitlines()) - 1
    assert result.code == 0
    assert f"Only {count} memories can be served" in result.err


def test_now_hides_what_came_later(demo: Cli) -> None:
    found = demo.told("search", "tests", "-k", "999", "--now", "2026-02-20T00:00:00Z")
    assert max(row["created_at"] for row in found) <= "2026-02-20T00:00:00Z"
    result = demo("search", "tests", "--json", "--now", "2020-01-01")
    assert result.code == 0
    assert json.loads(result.out) == []
    assert f"the store has {MEMORIES} memories" in result.err


def test_without_a_floor_unknown_words_leave_recency_and_importance(cli: Cli) -> None:
    for text in ("the pool is exhausted", "disk is full"):
        cli.ok("ingest", text)
    configure("[retrieval]\nfloor = false\n")
    result = cli("search", "ⵣⵣⵣ", "-k", "2")
    assert result.code == 0
    assert (
        result.err
        == "Every memory is equally relevant; recency and importance alone decide the order.\n"
    )
    assert len(result.out.splitlines()) == 3


def test_now_takes_times_as_filters_do(cli: Cli, tokyo: None) -> None:
    cli.ok(
        "append", "Deploys need AUTH_SECRET in CI."
    )  # at three in the morning of the 21st in Tokyo
    query = ("search", "deploys", "--json", "--now")
    found = [
        len(json.loads(cli(*query, now).out)) for now in ("now", "36h", "today", "2026-03-21T04:00")
    ]
    assert found == [1, 0, 0, 1]


def test_episodes_are_explained_by_their_five_terms(demo: Cli) -> None:
    asked = ("search", "deploy", "-k", "2", "--profile", "episodic", *AT)
    for row in demo.json(*asked):
        assert row["memory_type"] == "episodic"
        terms = row["parts"]["terms"]
        assert set(terms) == {"similarity", "recency", "success", "use", "domain"}
        assert sum(term["weighted"] for term in terms.values()) == pytest.approx(row["score"])
    shown = demo.ok(*asked, "--explain")
    assert all(name in shown for name in terms)


def test_a_store_without_episodes_says_so(cli: Cli) -> None:
    cli.ok("ingest", "the sky is blue", "--memory-type", "semantic")
    result = cli("search", "sky", "--profile", "episodic")
    assert result.code == 0
    assert result.out == ""
    assert "no episode; the store has 1 memory" in result.err


def test_who_said_it_is_told_to_a_person_masked_and_to_no_agent(cli: Cli) -> None:
    secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    rows = [
        {"id": id, "context": f"We bake {id}", "type": "error", "source": {"speaker": speaker}}
        for id, speaker in (("a", secret), ("b", secret), ("c", "Joanna"), ("d", "Joanna"))
    ]
    cli.ok("import", cli.write("said.jsonl", "".join(json.dumps(row) + "\n" for row in rows)))
    named = replace(WORKBENCH, name="named", other_actor=0.2)
    Profiles(config_dir() / "profiles").save(named, NOW, "workbench")
    asked = ("search", "what does Joanna bake", "--profile", "named", "--explain")
    told, served = cli(*asked).out, cli(*asked, "--for-agent", "claude").out
    assert "said by " in told
    assert "you named Joanna" in told
    assert "you named" not in served
    assert "bake" in served
    assert secret not in told + served


@pytest.mark.slow
def test_nothing_relevant_is_said_and_everything_is_marked_weak(demo: Cli) -> None:
    asked = ("search", "recipe for lasagne")
    result, rows = demo(*asked, *AT), demo(*asked, "--json", *AT)
    assert result.out.count("  weak: ") == len(result.out.splitlines()) - 1 == 10
    assert result.err.startswith("Nothing relevant to “recipe for lasagne”: ")
    assert rows.code == 0
    assert rows.err == result.err
    assert [row["weak"] for row in json.loads(rows.out)] == [True] * 10
    before = demo.ok("history", "--json")
    text, none = (demo(*asked, "--for-agent", "claude", *more) for more in ((), ("--json",)))
    assert text.code == 0
    assert text.err == ""
    assert text.out.count("\n") == 1
    assert none.code == 0
    assert none.out == "[]\n"
    assert none.err == text.out
    assert demo.ok("history", "--json") == before


@pytest.mark.slow
def test_weak_memories_are_marked_for_a_person_and_left_out_for_an_agent(demo: Cli) -> None:
    question = ("search", "who may write to customers during an outage")
    rows = demo.json(*question)
    weak = [row["id"] for row in rows if row["weak"]]
    assert 0 < len(weak) < len(rows)
    lines = demo.ok(*question).splitlines()[1:]
    assert [line.split()[2] for line in lines] == [row["id"] for row in rows]
    assert [line.split()[2] for line in lines if "  weak: " in line] == weak
    served = demo(*question, "--for-agent", "claude", "--json")
    assert [row["id"] for row in json.loads(served.out)] == [
        row["id"] for row in rows if not row["weak"]
    ]
    assert "left out: background questions score higher here." in served.err


@pytest.mark.slow
def test_candidates_that_fit_are_named_beside_the_answer_and_to_no_agent(demo: Cli) -> None:
    words = "side effects that others observe come after the commit"
    waiting = "mem-20260302-0000147"
    assert waiting not in [row["id"] for row in demo.told("search", words)]
    assert f"in Review: {waiting}" in demo("search", words).err
    assert demo("search", words, "--json").err == ""
    assert "in Review" not in demo("search", words, "--for-agent", "codex").err
    assert "in Review" not in demo("search", "a recipe for lasagne").err
