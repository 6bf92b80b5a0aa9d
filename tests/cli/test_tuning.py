"""`workbench eval`, `tune`, `queries`, `model` and the profile in use: what is measured, proposed, saved and
put to use, and what goes before what.
"""

import json
import shutil
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.conftest import NOW, Cli
from tests.cli.shared import configure, memory, stored
from tests.demo import ANSWERED, QUERIES
from tests.small_models import DIM, small_model
from workbench.config import loading, paths
from workbench.config.paths import config_dir, shipped
from workbench.core.tuning.profile import BUILT_IN, WORKBENCH
from workbench.retrieval.embedding.embedder import WEIGHTS
from workbench.services.open import open_workbench
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
def test_eval_compares_the_built_in_profiles_and_says_what_it_left_out(
    demo: Cli, queries: str
) -> None:
    more = '{"query": "x", "relevant": {"gone": 2}}\n{"query": "broken"\n'
    name = demo.write("set.jsonl", Path(queries).read_text() + more)
    result = demo("eval", name, "--json")
    found = json.loads(result.out)
    assert list(found["profiles"]) == NAMES
    for measured in found["profiles"].values():
        assert set(measured["mean"]) == METRICS
    assert [verdict["profile"] for verdict in found["verdicts"]] == NAMES[1:]
    about = found["query_set"]
    assert result.code == 0
    assert about["name"] == "set.jsonl"
    assert about["unknown_ids"] == ["gone"]
    assert about["queries"] == 14
    assert about["queries_left_out"] == 1
    assert "1 graded id is not in this store and ignored: gone." in result.err
    assert f"{name}:16: " in result.err


@pytest.mark.slow
def test_eval_and_tune_try_profiles_of_ones_own(demo: Cli, queries: str) -> None:
    save("mine")
    (config_dir() / "profiles" / "broken.toml").write_text("relevance = ")
    result = demo("eval", queries, "--json")
    assert list(json.loads(result.out)["profiles"]) == [*NAMES, "mine"]
    assert result.err.startswith("workbench: The profile “broken” is not TOML")
    assert "not TOML" in demo("tune", queries, "--profile", "broken").err
    best = to_toml(replace(WORKBENCH, name="best"), NOW, "workbench")
    (config_dir() / "profiles" / "best.toml").write_text(best)
    every = str(shipped("fixtures/demo") / "queries.jsonl")
    found = demo.told("tune", every, "--profile", "generative-agents")
    assert found["keep"] is False
    assert found["settings_tried"] == 234
    assert found["contender"] == "best"


def test_tune_proposes_and_says_what_it_is_worth(demo: Cli, queries: str) -> None:
    asked = ("tune", queries, "--profile", "engram", "--metric", "recall@5", "--folds", "3")
    found = demo.json(*asked)
    assert found["metric"] == "recall@5"
    assert found["folds"] == 3
    assert found["settings_tried"] == 1624
    assert found["gain"] == pytest.approx(found["after"] - found["before"])
    assert found["interval"][0] <= found["gain"] <= found["interval"][1]
    weights = [found["profile"][name] for name in ("recency", "importance", "relevance")]
    assert sum(weights) == pytest.approx(1)
    moved = {m["parameter"] for m in found["moved"]}
    assert moved <= {"recency", "importance", "relevance", "half-life"}
    assert found["saved"] is None
    assert not ((config_dir() / "profiles").exists())


@pytest.mark.slow
def test_tune_saves_a_profile_that_can_be_used(demo: Cli, queries: str) -> None:
    tune = ("tune", queries, "--profile", "engram")
    path = config_dir() / "profiles" / "mine.toml"
    assert f"Saved as {path}.\n" in demo.ok(*tune, "--save", "mine")
    birth = tomllib.loads(path.read_text())["birth"]
    assert birth["parent"] == "engram"
    assert birth["queries"] == 14
    assert "already" in demo.refused(*tune, "--save", "mine")
    assert f"Saved as {path}.\n" in demo.ok(*tune, "--save", "mine", "--force")
    found = demo.json(*tune)
    assert found["contender"] is None
    assert found["tuned_on_these"] == ["mine"]
    assert "mine was tuned on these queries" in demo.ok(*tune)
    again = ("tune", queries, "--profile", "mine", "--save", "again")
    result = demo(*again)
    assert result.code == 1
    assert not (path.with_stem("again").exists())
    assert "it was not saved. --force saves it." in result.err
    assert demo(*again, "--force").code == 0
    assert path.with_stem("again").exists()


@pytest.mark.slow
def test_without_a_file_the_stores_own_judged_queries_are_taken(demo: Cli) -> None:
    stored = demo.json("queries", "list")
    found = demo.told("eval", "--profile", "workbench")["query_set"]
    assert found["name"] == "the store"
    assert found["queries"] + found["queries_left_out"] == len(stored)
    said = f"{found['queries']} queries, "
    for command in (("eval", "--profile", "workbench"), ("tune", "--folds", "2")):
        line = next(line for line in demo(*command).out.splitlines() if line.startswith(said))
        assert line.endswith(": the store's own")


@pytest.mark.parametrize("command", ["eval", "tune"])
def test_a_store_without_judged_queries_says_what_to_name(cli: Cli, command: str) -> None:
    cli.ok("ingest", "The staging cluster is reset every Monday.")
    err = cli.refused(command)
    assert "No judged queries yet" in err
    assert "Name a query set" in err


def test_the_list_has_every_query_with_its_grades(demo: Cli) -> None:
    rows = demo.json("queries", "list")
    assert {"id", "query", "now", "tags", "judgments", "created_at"} == set(rows[0])
    lines = [line.split()[:2] for line in demo.ok("queries", "list").splitlines()[1:]]
    assert lines == [[row["id"], str(row["judgments"])] for row in rows]
    assert len(rows) == QUERIES


@pytest.mark.slow
def test_an_export_is_a_query_set_that_eval_reads(demo: Cli) -> None:
    export = ("queries", "export", "mine.jsonl")
    assert demo.ok(*export).endswith(f"mine.jsonl has {QUERIES} lines now.\n")
    measured = demo.told("eval", str(demo.cwd / "mine.jsonl"), "--profile", "workbench")
    assert len(measured["profiles"]["workbench"]["queries"]) == ANSWERED
    qrels = ("--format", "qrels")
    assert "already exists. Nothing was written; --force" in demo.refused(*export, *qrels)
    demo.ok(*export, *qrels, "--force")
    assert demo.ok("queries", "export", "-", *qrels) == (demo.cwd / "mine.jsonl").read_text()


NO_DECAY = next(profile for profile in BUILT_IN if profile.name == "no-decay")


ASKED = ("search", "deploy", "-k", "1", "--json")


def save(name: str) -> Path:
    path = config_dir() / "profiles" / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(to_toml(replace(NO_DECAY, name=name, recency=0.25), NOW, "no-decay"))
    return path


def used(cli: Cli, *more: str) -> tuple[str, str, float]:
    """Return the profile of an answer, where it is said, and what it weighs recency with."""
    (row,) = json.loads(cli.ok(*ASKED, *more))
    parts = row["parts"]
    weight = (
        parts["weighted"]["recency"] / parts["normalised"]["recency"]
        if parts["normalised"]["recency"]
        else 0.0
    )
    return row["profile"], row["profile_from"], round(weight, 4)


def test_a_profile_is_put_to_use_for_agents_too_and_undone(demo: Cli) -> None:
    save("mine")
    assert demo.ok("tune", "--use", "mine").startswith(
        "mine (store) is in use from now on, for agents too; "
    )
    assert used(demo)[:2] == ("mine", "store")
    assert used(demo, "--for-agent", "claude")[:2] == ("mine", "store")
    assert "ranked under mine (store)" in demo.ok("search", "deploy", "-k", "1")
    assert demo.json("reads", "-n", "0")[0]["profile"] == "mine"
    assert demo.ok("config", "show").startswith("# Profile in use here: mine (store).\n")
    assert "mine (store) is already in use." in demo.ok("config", "set", "profile", "mine")
    assert "use the profile mine in this store" in demo("history", "-n", "3").out
    demo.ok("undo")
    assert used(demo)[:2] == ("workbench", "default")


def test_the_flag_goes_before_the_environment_that_before_the_store_and_that_before_the_file(
    demo: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    save("mine")
    demo.ok("config", "set", "profile", "engram", "--global")
    assert used(demo)[:2] == ("engram", "config.toml")
    demo.ok("config", "set", "profile", "mine")
    assert used(demo)[:2] == ("mine", "store")
    monkeypatch.setenv("WORKBENCH_PROFILE", "generative-agents")
    assert used(demo)[:2] == ("generative-agents", "environment")
    assert used(demo, "--profile", "no-decay")[:2] == ("no-decay", "flag")
    assert "but generative-agents (environment) overrides it here" in demo.ok(
        "tune", "--use", "workbench"
    )
    monkeypatch.setenv("WORKBENCH_PROFILE", "nope")
    assert "Unknown profile “nope”. It is set by: environment." in demo(*ASKED).err
    monkeypatch.delenv("WORKBENCH_PROFILE")
    demo.ok("config", "set", "profile", "")
    assert used(demo)[:2] == ("engram", "config.toml")


def test_it_goes_along_with_the_store_where_nobody_has_its_file(demo: Cli) -> None:
    path = save("mine")
    demo.ok("tune", "--use", "mine")
    before = demo.json("search", "deploy")
    path.unlink()
    assert demo.json("search", "deploy") == before


def test_of_a_store_from_elsewhere_it_holds_once_that_is_trusted(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WORKBENCH_TRUST")
    elsewhere = cli.cwd.parent / "elsewhere"
    bench = open_workbench(elsewhere, profiles=cli.cwd / "profiles", clock=lambda: NOW)
    bench.tuning.use("engram")
    bench.close()
    shutil.copytree(elsewhere, cli.store)
    assert "# Profile in use here: workbench (default)." in cli.ok("config", "show")
    cli.ok("trust", "--yes")
    assert "# Profile in use here: engram (store)." in cli.ok("config", "show")


def test_other_settings_go_into_the_file(cli: Cli) -> None:
    path = configure("# mine\n[reflection]\nhours = 12 # half a day\n")
    said = cli.ok("config", "set", "reflection.hours", "5")
    assert said == f"reflection.hours is 5 in {path} (it was 12).\n"
    cli.ok("config", "set", "keys.stream.edit", "f4")
    text = path.read_text()
    assert text.startswith("# mine\n[reflection]\nhours = 5 # half a day\n")
    assert tomllib.loads(text)["keys"]["stream"]["edit"] == "f4"


TEXTS = {
    "ru": "Резервные копии делаем каждую ночь в три часа",
    "zh": "每天凌晨三点备份数据库",
    "ko": "데이터베이스는 매일 새벽 세 시에 백업한다",
    "en": "The database is backed up every night at three",
}


@pytest.fixture
def multilingual(tmp_path: Path) -> Path:
    return small_model(tmp_path / "here" / "multilingual", TEXTS.values())


@pytest.fixture
def texts(cli: Cli) -> Cli:
    stored(cli, *(memory(id, text) for id, text in TEXTS.items()))
    return cli


def settings() -> str:
    path = paths.config_dir() / loading.FILE_NAME
    return path.read_text() if path.exists() else ""


def test_a_multilingual_model_is_used_from_now_on_and_the_bundled_one_again(
    texts: Cli, multilingual: Path
) -> None:
    journal = (texts.store / "journal.jsonl").read_bytes()
    before = texts.json("model")
    assert before["bundled"]
    used = texts.json("model", "use", multilingual.name)
    assert used["folder"] == str(multilingual)
    assert used["bundled"] is False
    assert used["dimensions"] == DIM
    assert used["memories"] == 4
    assert used["queries"] is None
    loaded = loading.load(paths.config_dir() / loading.FILE_NAME)
    assert loaded.settings.model == multilingual
    assert loaded.problems == ()
    assert texts.json("model", "show")["fingerprint"] == used["fingerprint"]
    assert str(multilingual) in texts.ok("model")
    assert texts.json("model", "use", "bundled")["fingerprint"] == before["fingerprint"]
    assert loading.load(paths.config_dir() / loading.FILE_NAME).settings.model is None
    assert (texts.store / "journal.jsonl").read_bytes() == journal


def test_what_changed_in_the_judged_queries_is_said(texts: Cli, multilingual: Path) -> None:
    asked = {
        "ru": "копия каждая ночь",
        "zh": "数据库备份",
        "ko": "백업은 언제",
        "en": "when is the nightly backup",
    }
    judged = [{"query": query, "relevant": {id: 3}} for id, query in asked.items()]
    texts.ok(
        "import", texts.write("queries.jsonl", "".join(json.dumps(one) + "\n" for one in judged))
    )
    measure = ("eval", "--profile", "workbench")
    before = texts.json(*measure)["profiles"]["workbench"]["mean"]
    found = texts.json("model", "use", str(multilingual))["queries"]
    now = texts.json(*measure)["profiles"]["workbench"]["mean"]
    assert found["before"] == before
    assert found["now"] == now
    assert found["better"] + found["worse"] + found["same"] == len(asked)
    out = texts.ok("model", "use", "bundled")
    assert found["changed"]
    assert all(one["query"] in out for one in found["changed"])
    assert f"{now['ndcg@10']:.3f} → {before['ndcg@10']:.3f}" in out


@pytest.mark.parametrize("broken", ["nothing there", "an empty folder", "a file", "other weights"])
def test_a_folder_that_is_no_model_is_refused_and_nothing_changes(
    texts: Cli, multilingual: Path, broken: str
) -> None:
    texts.ok("model", "use", str(multilingual))
    before, other = settings(), texts.cwd / "other"
    if broken == "an empty folder":
        other.mkdir()
    elif broken == "a file":
        other.write_text("x")
    elif broken == "other weights":
        small_model(other, ["quite another text"])
        (other / WEIGHTS).write_bytes((multilingual / WEIGHTS).read_bytes())
    err = texts.refused("model", "use", str(other))
    assert str(other) in err
    assert settings() == before
    assert texts.json("model")["folder"] == str(multilingual)


def test_a_model_that_is_gone_is_left_for_another_one(texts: Cli, multilingual: Path) -> None:
    texts.write("queries.jsonl", json.dumps({"query": "backup", "relevant": {"en": 3}}) + "\n")
    texts.ok("import", "queries.jsonl")
    texts.ok("model", "use", str(multilingual))
    shutil.rmtree(multilingual)
    assert str(multilingual) in texts.refused("model")
    texts.ok("model", "use", "bundled")
    assert texts.json("model")["bundled"]


def test_without_a_store_the_setting_is_made_all_the_same(cli: Cli, multilingual: Path) -> None:
    result = cli.bare("model", "use", str(multilingual))
    assert result.code == 0
    assert result.err == ""
    assert str(multilingual) in settings()
    assert not list(cli.cwd.glob(".workbench"))
