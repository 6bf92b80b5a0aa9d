"""`workbench search`: the ranking as JSON and as lines; friendly answers where there is none; no
traces.
"""

import json
import re
from dataclasses import replace

import pytest

from tests.cli.conftest import NOW, Cli, files_of
from tests.cli.test_importing import entry
from tests.demo import MEMORIES
from workbench.config.paths import cache_dir, config_dir
from workbench.core.tuning.profile import RELEVANCE_PARTS, WORKBENCH
from workbench.services.tuning.profiles import Profiles

AT = ("--now", "2026-03-20T17:30")
EMPTY = "The store has no memories yet; `workbench import` or `workbench ingest` adds some.\n"


def test_the_json_names_every_part_of_the_score(demo: Cli) -> None:
    found = demo.json("search", "webhook delivered twice", "-k", "3", "--explain", *AT)
    assert [row["rank"] for row in found] == [1, 2, 3]
    assert [row["score"] for row in found] == sorted((row["score"] for row in found), reverse=True)
    for row in found:
        assert set(row["parts"]) == {"raw", "normalised", "weighted"}
        assert set(row["parts"]["raw"]) == {"recency", "importance", "relevance"}
        assert sum(row["parts"]["weighted"].values()) == pytest.approx(row["score"])
        assert "webhook" in (row["summary"] + row["content"]).lower()
        reached = row["explain"]["floor"]["memory_reaches"]
        assert row["relevance"] == pytest.approx((reached["cosine"] + reached["lexical"]) / 2)
    assert {"id", "content", "summary", "created_at", "status", "tags", "importance_score"} < set(
        found[0]
    )


@pytest.mark.slow
def test_lines_are_ranked_and_aligned(demo: Cli) -> None:
    found = demo.json("search", "deploy", "-k", "12", *AT)
    header, *lines = demo.ok("search", "deploy", "-k", "12", *AT).splitlines()
    assert re.split("  +", header.strip()) == [
        "relevance",
        "id",
        "created",
        "type",
        "text, ranked under workbench (default)",
    ]
    assert [line.split()[2] for line in lines] == [row["id"] for row in found]
    assert [float(line.split()[1]) for line in lines] == [
        round(row["relevance"], 4) for row in found
    ]
    assert len({line.index("mem-") for line in lines}) == 1


@pytest.mark.slow
def test_explain_shows_raw_normalised_and_weighted(demo: Cli) -> None:
    lines = demo.ok(
        "search", "deploy", "-k", "1", "--explain", "--profile", "engram", *AT
    ).splitlines()
    assert lines[0].startswith(
        "profile engram: recency 0.333, importance 0.333, relevance 0.333 · "
    )
    assert lines[1].startswith("floor 0.")
    parts = ["recency", "importance", "relevance", "relevance", "(cosine", "total"]
    assert [line.split()[0] for line in lines[4:]] == parts
    total = float(lines[-1].split()[1])
    assert sum(float(line.rpartition("= ")[2]) for line in lines[4:7]) == pytest.approx(
        total, abs=2e-4
    )
    assert lines[8].split("= ")[1] == lines[3].split()[1]
    asked = ("search", "deploy", "-k", "1", "--explain", *AT)
    (row,) = demo.json(*asked)
    assert round(row["score"], 4) == float(demo.ok(*asked).rpartition(" ")[2])
    explain, raw = row["explain"], row["parts"]["raw"]["relevance"]
    split, bound = explain["relevance"], explain["bounds"]["relevance"]
    added, times = (split[name] for name in ("carry", "questions"))
    assert ((split["dense"] + split["lexical"]) / 2 + added) * times == pytest.approx(raw)
    assert list(split) == [part.id for part in RELEVANCE_PARTS]
    assert (bound["high"], bound["high_by"]) == (raw, row["id"])
    assert f"{raw:.4f} ({row['id']})" in demo.ok(*asked)
    assert "explain" not in demo.json("search", "deploy", "-k", "1", *AT)[0]


@pytest.mark.slow
def test_nothing_is_written_but_the_cache(demo: Cli) -> None:
    before = files_of(demo.store)
    demo.ok("search", "deploy", *AT)
    assert files_of(demo.store) == before
    assert any(cache_dir().rglob("index.npz"))


@pytest.mark.slow
def test_it_is_served_what_agents_are_served(demo: Cli) -> None:
    ids = {row["id"] for row in demo.told("search", "tests", "-k", "999", *AT)}
    hidden = demo.json("list", "status:candidate,archived", "-n", "999")
    assert hidden
    assert not ids & {memory["id"] for memory in hidden}
    assert len(ids) + len(hidden) == demo.json("stats")["memories"]


@pytest.mark.slow
def test_more_than_there_is_gives_all_and_says_so(demo: Cli) -> None:
    result = demo("search", "tests", "-k", "999", *AT)
    count = len(result.out.splitlines()) - 1
    assert result.code == 0
    only, wait = result.err.splitlines()
    assert only == f"Only {count} memories can be served at that time; these are all."
    assert re.fullmatch(r"\d+ candidates wait in Review: `workbench review` lists them\.", wait)


def test_now_hides_what_came_later(demo: Cli) -> None:
    found = demo.told("search", "tests", "-k", "999", "--now", "2026-02-20T00:00:00Z")
    assert found
    assert max(row["created_at"] for row in found) <= "2026-02-20T00:00:00Z"
    result = demo("search", "tests", "--json", "--now", "2020-01-01")
    assert (result.code, json.loads(result.out)) == (0, [])
    assert (
        result.err
        == f"Agents are served nothing at that time; the store holds {MEMORIES} memories.\n"
    )


@pytest.mark.parametrize("arguments", [(), ("--json",), ("--explain",), ("-k", "5")])
def test_an_empty_store_gives_a_friendly_answer(cli: Cli, arguments: tuple[str, ...]) -> None:
    cli.ok("init")
    before = cli.files()
    result = cli("search", "anything", *arguments)
    assert (result.code, result.err) == (0, EMPTY)
    assert result.out == ("[]\n" if "--json" in arguments else "")
    assert cli.files() == before


def test_common_words_are_ranked_with_a_remark(demo: Cli) -> None:
    result = demo("search", "the of and", "-k", "2", *AT)
    assert (result.code, len(result.out.splitlines())) == (0, 3)
    assert result.err.startswith(
        "The query has only common words, so full text finds nothing in it.\n"
    )


def test_without_a_floor_unknown_words_leave_recency_and_importance(cli: Cli) -> None:
    for text in ("the pool is exhausted", "disk is full"):
        cli.ok("ingest", text)
    (config_dir() / "config.toml").parent.mkdir(parents=True, exist_ok=True)
    (config_dir() / "config.toml").write_text("[retrieval]\nfloor = false\n")
    result = cli("search", "ⵣⵣⵣ", "-k", "2")
    assert result.code == 0
    assert (
        result.err
        == "Every memory is equally relevant; recency and importance alone decide the order.\n"
    )
    assert len(result.out.splitlines()) == 3


@pytest.mark.parametrize("query", ["", "  \t "])
def test_an_empty_query_is_refused_kindly(demo: Cli, query: str) -> None:
    err = demo.refused("search", query)
    assert err == (
        "workbench: The query is empty. Say what to look for; `workbench list` shows everything.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("-k", "0"),
            "workbench search: argument -k: “0” must be a whole number above 0. See “workbench search --help”.\n",
        ),
        (
            ("--now", "soon"),
            "workbench search: argument --now: “soon” is not a time. Write 36h, 7d, ",
        ),
        (
            ("--profile", "mine"),
            "workbench: There is no profile “mine”. Known ones: workbench, engram, ",
        ),
    ],
)
def test_wrong_arguments_are_one_sentence(
    demo: Cli, arguments: tuple[str, ...], message: str
) -> None:
    err = demo.refused("search", "x", *arguments)
    assert err.startswith(message)
    assert err.count("\n") == 1


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
    found = demo.json(*asked)
    for row in found:
        assert row["memory_type"] == "episodic"
        terms = row["parts"]["terms"]
        assert set(terms) == {"similarity", "recency", "success", "use", "domain"}
        assert [terms[name]["weight"] for name in ("similarity", "success")] == pytest.approx(
            [0.5, 0.15]
        )
        assert sum(term["weighted"] for term in terms.values()) == pytest.approx(row["score"])
    lines = demo.ok(*asked, "--explain").splitlines()
    assert lines[0].endswith(" episodes are served")
    assert [line.split()[0] for line in lines[4:10]] == [
        "recency",
        "success",
        "use",
        "similarity",
        "domain",
        "(cosine",
    ]
    assert "unknown" in lines[5]


def test_a_store_without_episodes_says_so(cli: Cli) -> None:
    fact = {"id": "mem-1", "context": "the sky is blue", "type": "discovery", "status": "confirmed"}
    cli.write("facts.jsonl", json.dumps({**fact, "memory_type": "semantic"}) + "\n")
    cli.ok("import", "facts.jsonl")
    result = cli("search", "sky", "--profile", "episodic")
    assert cli.json("list")[0]["memory_type"] != "episodic"
    assert (result.code, result.out) == (0, "")
    assert result.err == "Agents are served no episode at that time; the store holds 1 memory.\n"


def test_who_said_it_is_told_to_a_person_masked_and_to_no_agent(cli: Cli) -> None:
    secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    said = [("a", secret), ("b", secret), ("c", "Joanna"), ("d", "Joanna")]
    lines = [
        entry(
            id,
            f"We bake {id}",
            source={"hook": None, "turn": None, "file": None, "speaker": speaker},
        )
        for id, speaker in said
    ]
    cli.ok("import", cli.write("said.jsonl", "\n".join(lines) + "\n"))
    named = replace(WORKBENCH, name="named", others=(("other_actor", 0.2),))
    Profiles(config_dir() / "profiles").save(named, NOW, "workbench")
    asked = ("search", "what does Joanna bake", "--profile", "named", "--explain")
    told = cli(*asked).out
    assert "said by " in told
    assert "you named Joanna" in told
    served = cli(*asked, "--for-agent", "claude").out
    assert "bake" in served
    for text in (told, served):
        assert secret not in text
    assert "you named" not in served


@pytest.mark.slow
def test_nothing_relevant_is_said_and_everything_is_marked_weak(demo: Cli) -> None:
    result = demo("search", "recipe for lasagne", *AT)
    assert result.code == 0
    assert result.out.count("  weak: ") == len(result.out.splitlines()) - 1 == 10
    said = re.fullmatch(
        r"Nothing here is relevant to “recipe for lasagne”: the best match reaches (\d\.\d\d), "
        r"background questions reach (\d\.\d\d) here\.\n",
        result.err,
    )
    assert said is not None
    assert float(said[1]) < float(said[2])
    rows = demo("search", "recipe for lasagne", "--json", *AT)
    assert rows.err == result.err
    assert [row["weak"] for row in json.loads(rows.out)] == [True] * 10
    assert max(row["relevance"] for row in json.loads(rows.out)) < float(said[2]) < 0.5


@pytest.mark.slow
def test_weak_memories_are_marked_at_their_places(demo: Cli) -> None:
    asked = ("search", "who may write to customers during an outage", *AT)
    rows, lines = demo.json(*asked), demo.ok(*asked).splitlines()
    weak = [line for line in lines if "  weak: " in line]
    assert [int(line.split()[0]) for line in lines[1:]] == list(range(1, 11))
    assert [line.split()[2] for line in weak] == [row["id"] for row in rows if row["weak"]]
    (first, *_), explained = rows, demo.ok(*asked, "--explain").splitlines()
    assert explained[1].startswith("floor 0.")
    assert sum(" = " in line and line.endswith(", weak") for line in explained) == len(weak)
    found = demo.json(*asked, "--explain")[0]["explain"]["floor"]
    assert sum(found["memory_reaches"].values()) / 2 >= found["memory"]
    assert sum(found["query_reaches"].values()) / 2 >= found["query"]
    assert first["weak"] is False


@pytest.mark.slow
def test_an_agent_is_told_that_nothing_is_relevant_and_given_nothing(demo: Cli) -> None:
    asked = ("search", "recipe for lasagne", "--for-agent", "claude")
    before = demo.ok("history", "--json")
    text, rows = demo(*asked), demo(*asked, "--json")
    assert (text.code, text.err) == (0, "")
    assert text.out.startswith("Nothing here is relevant to “recipe for lasagne”: ")
    assert text.out.count("\n") == 1
    assert (rows.code, rows.out, rows.err) == (0, "[]\n", text.out)
    assert demo.ok("history", "--json") == before


@pytest.mark.slow
def test_an_agent_is_not_given_what_is_weak(demo: Cli) -> None:
    question = ("search", "who may write to customers during an outage")
    weak = {row["id"] for row in demo.json(*question) if row["weak"]}
    assert weak
    served = demo(*question, "--for-agent", "claude", "--json")
    rows = json.loads(served.out)
    left_out = "1 weak memory was" if len(weak) == 1 else f"{len(weak)} weak memories were"
    assert served.err == f"{left_out} left out: background questions find better ones here.\n"
    assert [row["rank"] for row in rows] == list(range(1, 11 - len(weak)))
    assert not weak & {row["id"] for row in rows}
    assert not any(row["weak"] for row in rows)


def test_turned_off_nothing_is_said_of_it(demo: Cli) -> None:
    (config_dir() / "config.toml").parent.mkdir(parents=True, exist_ok=True)
    (config_dir() / "config.toml").write_text("[retrieval]\nfloor = false\n")
    lines = demo.ok("search", "recipe for lasagne", "--explain", *AT)
    assert "floor" not in lines
    assert "weak" not in lines
    rows = demo.json("search", "recipe for lasagne", "--explain", *AT)
    assert not any("weak" in row or "floor" in row["explain"] for row in rows)
    served = demo.json("search", "recipe for lasagne", "--for-agent", "claude")
    assert [row["id"] for row in served] == [row["id"] for row in rows]


def test_few_memories_have_a_floor_too(cli: Cli) -> None:
    for text in (
        "the pool of connections is exhausted",
        "use pnpm, never npm",
        "migrations run in their own job",
    ):
        cli.ok("ingest", text)
    result = cli("search", "stripe webhook twice", "--json")
    assert all(row["weak"] and row["relevance"] < 0.3 for row in json.loads(result.out))
    assert result.err.startswith("Nothing here is relevant to “stripe webhook twice”")
    (best, *_) = cli.json("search", "which connections are exhausted", "-k", "1")
    assert (best["weak"], best["content"]) == (False, "the pool of connections is exhausted")


@pytest.mark.slow
def test_candidates_that_fit_are_named_beside_the_answer_and_to_no_agent(demo: Cli) -> None:
    words = "side effects that others observe come after the commit"
    waiting = "mem-20260302-0000147"
    assert waiting not in [row["id"] for row in demo.told("search", words)]
    assert f"in Review: {waiting}" in demo("search", words).err
    assert demo("search", words, "--json").err == ""
    assert "in Review" not in demo("search", words, "--for-agent", "codex").err
    assert "in Review" not in demo("search", "a recipe for lasagne").err
