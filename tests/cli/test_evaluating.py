"""`workbench eval` and `workbench tune`: their JSON, their lines, and friendly answers to what goes
wrong.
"""

import json
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.conftest import NOW, Cli, files_of
from workbench.config.paths import config_dir, shipped
from workbench.core.tuning.profile import BUILT_IN, WORKBENCH
from workbench.services.tuning.profiles import to_toml

NAMES = [p.name for p in BUILT_IN]
METRICS = {"ndcg@10", "recall@10", "recall@5", "mrr@10", "p@10"}


@pytest.fixture
def queries(tmp_path: Path) -> str:
    """A few of the demo's queries that have an answer."""
    lines = (
        (shipped("fixtures/demo") / "queries.jsonl").read_text("utf-8").splitlines(keepends=True)
    )
    (tmp_path / "queries.jsonl").write_text("".join(lines[:14]), "utf-8")
    return str(tmp_path / "queries.jsonl")


@pytest.mark.slow
def test_eval_compares_the_built_in_profiles(demo: Cli, queries: str) -> None:
    found = demo.json("eval", queries)
    assert list(found["profiles"]) == NAMES
    for result in found["profiles"].values():
        assert set(result["mean"]) == METRICS
        assert all(set(query) > METRICS for query in result["queries"])
        for metric in METRICS:
            mean = sum(query[metric] for query in result["queries"]) / len(result["queries"])
            assert result["mean"][metric] == pytest.approx(mean)
    assert [(v["base"], v["profile"]) for v in found["verdicts"]] == [
        ("workbench", name) for name in NAMES[1:]
    ]
    for verdict in found["verdicts"]:
        assert verdict["interval"][0] <= verdict["delta"] <= verdict["interval"][1]
        assert (
            verdict["better"] + verdict["worse"] + verdict["same"] == found["query_set"]["queries"]
        )
        assert verdict["verdict"] in ("better", "worse", "unclear")
    assert found["query_set"]["unknown_ids"] == []


@pytest.mark.slow
def test_eval_and_tune_try_profiles_of_ones_own(demo: Cli, queries: str) -> None:
    folder = config_dir() / "profiles"
    folder.mkdir(parents=True)
    (folder / "mine.toml").write_text("recency = 0.0\nimportance = 0.0\nrelevance = 1.0\n")
    (folder / "broken.toml").write_text("relevance = ")
    result = demo("eval", queries, "--json")
    assert list(json.loads(result.out)["profiles"]) == [*NAMES, "mine"]
    assert result.err.startswith("workbench: The profile “broken” is not TOML")
    (folder / "best.toml").write_text(to_toml(replace(WORKBENCH, name="best"), NOW, "workbench"))
    every = str(shipped("fixtures/demo") / "queries.jsonl")
    found = demo.told("tune", every, "--profile", "generative-agents")
    assert (found["keep"], found["settings_tried"]) == (False, 231 + 1 + 2)
    assert found["contender"] == "best"
    assert demo("tune", every, "--profile", "generative-agents").out.startswith(
        "Proposal, from generative-agents (flag): your profile best:\n"
    )
    kept = demo.json("tune", queries, "--profile", "best", "--folds", "2")
    assert kept["keep"] == (kept["verdict"]["verdict"] != "better")


@pytest.mark.slow
def test_neither_writes_to_the_store(demo: Cli, queries: str) -> None:
    before = files_of(demo.store)
    demo.ok("eval", queries)
    demo.ok("tune", queries)
    assert files_of(demo.store) == before


def test_tune_proposes_and_says_what_it_is_worth(demo: Cli, queries: str) -> None:
    found = demo.json(
        "tune", queries, "--profile", "engram", "--metric", "recall@5", "--folds", "3"
    )
    assert (found["metric"], found["folds"], found["settings_tried"]) == ("recall@5", 3, 1624)
    assert found["gain"] == pytest.approx(found["after"] - found["before"])
    assert found["interval"][0] <= found["gain"] <= found["interval"][1]
    assert found["saved"] is None
    weights = [found["profile"][name] for name in ("recency", "importance", "relevance")]
    assert sum(weights) == pytest.approx(1)
    assert {m["parameter"] for m in found["moved"]} <= {
        "recency",
        "importance",
        "relevance",
        "half-life",
    }
    assert not (config_dir() / "profiles").exists()


@pytest.mark.slow
def test_tune_saves_a_profile_that_can_be_used(demo: Cli, queries: str) -> None:
    lines = demo.ok("tune", queries, "--profile", "engram", "--save", "mine").splitlines()
    path = config_dir() / "profiles" / "mine.toml"
    assert lines[0] == "Proposal, from engram (flag):"
    assert lines[-2:] == [
        f"Saved as {path}.",
        "`workbench tune --use mine` uses it in this store, for agents too.",
    ]
    saved = tomllib.loads(path.read_text())
    assert saved["birth"]["parent"] == "engram"
    assert saved["birth"]["queries"] == 14
    found = demo.json("eval", queries, "--profile", "engram", "--profile", "mine")
    assert found["verdicts"][0]["delta"] > 0
    err = demo.refused("tune", queries, "--save", "mine")
    assert "already" in err
    assert "built-in" in demo("tune", queries, "--save", "engram").err
    assert "built-in" in demo("tune", queries, "--save", "engram", "--force").err
    assert (
        demo.ok("tune", queries, "--profile", "engram", "--save", "mine", "--force").splitlines()[
            -2
        ]
        == f"Saved as {path}."
    )


@pytest.mark.slow
def test_a_profile_that_was_tuned_on_these_queries_is_no_evidence(demo: Cli, queries: str) -> None:
    demo.ok("tune", queries, "--profile", "engram", "--save", "mine")
    found = demo.json("tune", queries, "--profile", "engram")
    assert (found["contender"], found["settings_tried"]) == (None, 232 * 7)
    said = demo.ok("tune", queries, "--profile", "engram")
    no_evidence = "mine was tuned on these queries"
    assert no_evidence in said
    assert found["tuned_on_these"] == ["mine"]
    assert no_evidence in demo.ok("eval", queries)
    measured = ("eval", queries, "--json", "--profile", "workbench")
    assert json.loads(demo.ok(*measured, "--profile", "mine"))["tuned_on_these"] == ["mine"]
    assert json.loads(demo.ok(*measured))["tuned_on_these"] == []


@pytest.mark.slow
def test_what_is_not_better_is_saved_only_by_force(demo: Cli, queries: str) -> None:
    demo.ok("tune", queries, "--profile", "engram", "--save", "mine")
    path = config_dir() / "profiles" / "again.toml"
    arguments = ("tune", queries, "--profile", "mine", "--save", "again")
    result = demo(*arguments)
    assert (result.code, path.exists()) == (1, False)
    assert "it was not saved. --force saves it." in result.err
    assert "Keep it." in result.out
    forced = demo(*arguments, "--force")
    assert (forced.code, path.exists()) == (0, True)
    assert "Keep" not in forced.out
    assert " on held-out queries. --force saves " in forced.out
    assert f"Saved as {path}.\n`workbench tune --use again` uses it in this store" in forced.out
    assert path.exists()


@pytest.mark.slow
def test_unknown_ids_are_reported_and_ignored(demo: Cli, queries: str) -> None:
    text = Path(queries).read_text()
    more = '{"query": "x", "relevant": {"gone": 2}}\n{"query": "broken"\n'
    name = demo.write("set.jsonl", text.replace('{"mem-', '{"elsewhere":3,"mem-', 1) + more)
    result = demo("eval", name, "--json")
    assert result.code == 0
    found = json.loads(result.out)
    assert found["query_set"]["unknown_ids"] == ["elsewhere", "gone"]
    assert (found["query_set"]["queries"], found["query_set"]["queries_left_out"]) == (14, 1)
    assert "2 graded ids are not in this store and ignored: elsewhere, gone." in result.err
    assert "1 query has no relevant memory in this store and is left out." in result.err
    assert f"{name}:16: " in result.err
    plain = demo.json("eval", queries)
    assert (
        found["profiles"]["engram"]["mean"]["recall@10"]
        == plain["profiles"]["engram"]["mean"]["recall@10"]
    )


@pytest.mark.slow
@pytest.mark.parametrize("command", ["eval", "tune"])
def test_friendly_answers(demo: Cli, queries: str, command: str) -> None:
    memories = str(shipped("fixtures/demo") / "memories.jsonl")
    for name, text in (
        ("none.jsonl", None),
        ("empty.jsonl", ""),
        ("gone.jsonl", '{"query":"q","relevant":{"x":1}}'),
    ):
        if text is not None:
            demo.write(name, text)
        err = demo.refused(command, name)
        assert err.startswith("workbench: ")
        assert err.count("\n") == 1
    assert "no queries" in demo(command, memories).err
    assert (
        "Unknown profile “nope”. Known ones: workbench, "
        in demo(command, queries, "--profile", "nope").err
    )


@pytest.mark.parametrize("command", ["eval", "tune"])
def test_an_empty_store_has_nothing_to_measure(cli: Cli, queries: str, command: str) -> None:
    cli.ok("init")
    before = cli.files()
    err = cli.refused(command, queries)
    assert "no memories" in err
    assert cli.files() == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ("relevance = nan", "not a number"),
        ("relevance =", "not TOML"),
        ("relevanc = 1.0", "unknown parameter"),
    ],
)
def test_a_broken_profile_is_not_used(demo: Cli, queries: str, values: str, problem: str) -> None:
    folder = config_dir() / "profiles"
    folder.mkdir(parents=True)
    (folder / "broken.toml").write_text(values)
    for command in ("eval", "tune"):
        result = demo(command, queries, "--profile", "broken")
        assert result.code == 2
        assert problem in result.err


@pytest.mark.slow
def test_wrong_metrics_and_folds(demo: Cli, queries: str) -> None:
    assert "“map@10” is not a metric" in demo("tune", queries, "--metric", "map@10").err
    assert "two folds" in demo("tune", queries, "--folds", "1").err
    assert demo("tune", queries, "--folds", "0").code == 2
    one = demo.write("one.jsonl", Path(queries).read_text().splitlines()[0])
    assert "at least two judged queries" in demo("tune", one).err


@pytest.mark.slow
def test_the_mandated_metrics_are_always_there_and_others_when_k_differs(
    demo: Cli, queries: str
) -> None:
    usual = ["ndcg@10", "recall@10", "recall@5", "mrr@10", "p@10"]
    found = demo.json("eval", queries)
    assert list(found) == ["profiles", "verdicts", "query_set", "tuned_on_these"]
    assert list(found["profiles"]) == NAMES
    assert all(list(one["mean"]) == usual for one in found["profiles"].values())
    folder = config_dir() / "profiles"
    folder.mkdir(parents=True)
    (folder / "three.toml").write_text("recency = 0.1\nimportance = 0.1\nrelevance = 0.8\nk = 3\n")
    found = demo.json("eval", queries, "--profile", "three", "--profile", "workbench")
    more = ["ndcg@3", "mrr@3", "recall@3", "p@3"]
    assert all(list(one["mean"]) == usual + more for one in found["profiles"].values())
    assert found["verdicts"][0]["metric"] == "ndcg@3"
    assert all(len(q["top"]) <= 3 for q in found["profiles"]["three"]["queries"])
    header = demo.ok("eval", queries, "--profile", "three").splitlines()[0].split()
    assert header == ["profile", *usual, *more, "unjudged"]


@pytest.mark.slow
def test_without_a_file_the_stores_own_judged_queries_are_taken(demo: Cli) -> None:
    stored = demo.json("queries", "list")
    graded = [row for row in stored if row["judgments"]]
    found = demo.told("eval", "--profile", "workbench")
    assert found["query_set"]["name"] == "the store"
    assert found["query_set"]["queries"] + found["query_set"]["queries_left_out"] == len(stored)
    assert 0 < found["query_set"]["queries"] <= len(graded)
    count = found["query_set"]["queries"]
    said = next(
        line
        for line in demo("eval", "--profile", "workbench").out.splitlines()
        if " queries, " in line
    )
    assert said.startswith(f"{count} queries, ")
    assert said.endswith(": the store's own")
    tuned = demo("tune", "--folds", "2").out.splitlines()
    assert tuned[0] == said


@pytest.mark.slow
def test_a_file_may_stand_behind_an_option(demo: Cli, queries: str) -> None:
    found = demo.json("eval", "--profile", "workbench", queries)
    assert found["query_set"]["name"] == "queries.jsonl"
    assert "the store's own" not in demo.ok("eval", "--profile", "workbench", queries)


@pytest.mark.parametrize("command", ["eval", "tune"])
def test_a_store_without_judged_queries_says_what_to_name(cli: Cli, command: str) -> None:
    cli.ok("ingest", "The staging cluster is reset every Monday.")
    result = cli(command)
    assert result.code == 2
    assert "No judged queries yet" in result.err
    assert "Name a query set" in result.err
