"""`workbench model`: another embedding model is a setting of this machine, and what it changes is
said.
"""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.conftest import NOW, Cli
from tests.small_models import DIM, small_model
from workbench.config import loading, paths
from workbench.core.stream.memory import Memory
from workbench.retrieval.arrays import Vectors
from workbench.retrieval.embedding.embedder import WEIGHTS, Embedder
from workbench.services.open import open_workbench
from workbench.store.library import Library

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
def store(cli: Cli) -> Cli:
    with Library(cli.store).transaction("cli", "fill") as tx:
        for id, text in TEXTS.items():
            tx.put(Memory(id, text, NOW, NOW))
    return cli


def settings() -> str:
    path = paths.config_dir() / loading.FILE_NAME
    return path.read_text() if path.exists() else ""


def test_a_multilingual_model_is_used_from_now_on_and_the_bundled_one_again(
    store: Cli, multilingual: Path
) -> None:
    journal = (store.store / "journal.jsonl").read_bytes()
    before = store.json("model")
    assert before["bundled"]
    used = store.json("model", "use", multilingual.name)
    assert (used["folder"], used["bundled"], used["dimensions"], used["memories"]) == (
        str(multilingual),
        False,
        DIM,
        4,
    )
    assert used["queries"] is None
    loaded = loading.load(paths.config_dir() / loading.FILE_NAME)
    assert (loaded.settings.model, loaded.problems) == (multilingual, ())
    assert store.json("model", "show")["fingerprint"] == used["fingerprint"]
    assert str(multilingual) in store.ok("model")
    assert store.json("model", "use", "bundled")["fingerprint"] == before["fingerprint"]
    assert loading.load(paths.config_dir() / loading.FILE_NAME).settings.model is None
    assert (store.store / "journal.jsonl").read_bytes() == journal


def test_vectors_are_there_when_the_command_ends(
    store: Cli, multilingual: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.ok("model", "use", str(multilingual))
    embedded: list[str] = []
    embed = Embedder.embed

    def noted(self: Embedder, texts: Sequence[str]) -> Vectors:
        embedded.extend(texts)
        return embed(self, texts)

    monkeypatch.setattr(Embedder, "embed", noted)
    loaded = loading.load(paths.config_dir() / loading.FILE_NAME)
    bench = open_workbench(store.store, profiles=store.cwd / "none", settings=loaded.settings)
    vectors = bench.retriever.load().vectors
    assert (vectors.shape, embedded) == ((4, DIM), [])
    bench.close()


def test_what_changed_in_the_judged_queries_is_said(store: Cli, multilingual: Path) -> None:
    asked = {
        "ru": "копия каждая ночь",
        "zh": "数据库备份",
        "ko": "백업은 언제",
        "en": "when is the nightly backup",
    }
    judged = [{"query": query, "relevant": {id: 3}} for id, query in asked.items()]
    store.write("queries.jsonl", "".join(json.dumps(one) + "\n" for one in judged))
    store.ok("import", "queries.jsonl")
    before = store.json("eval", "--profile", "workbench")["profiles"]["workbench"]
    found = store.json("model", "use", str(multilingual))["queries"]
    now = store.json("eval", "--profile", "workbench")["profiles"]["workbench"]
    assert (found["before"], found["now"]) == (before["mean"], now["mean"])
    assert found["better"] + found["worse"] + found["same"] == len(asked)
    values = {
        was["query"]: (was["ndcg@10"], is_now["ndcg@10"])
        for was, is_now in zip(before["queries"], now["queries"], strict=True)
    }
    assert {one["query"]: (one["before"], one["now"]) for one in found["changed"]} == {
        query: pair for query, pair in values.items() if pair[0] != pair[1]
    }
    out = store.ok("model", "use", "bundled")
    assert found["changed"]
    for one in found["changed"]:
        assert one["query"] in out
    assert f"{now['mean']['ndcg@10']:.3f} → {before['mean']['ndcg@10']:.3f}" in out


@pytest.mark.parametrize("broken", ["nothing there", "an empty folder", "a file", "other weights"])
def test_a_folder_that_is_no_model_is_refused_and_nothing_changes(
    store: Cli, multilingual: Path, broken: str
) -> None:
    store.ok("model", "use", str(multilingual))
    before, other = settings(), store.cwd / "other"
    if broken == "an empty folder":
        other.mkdir()
    elif broken == "a file":
        other.write_text("x")
    elif broken == "other weights":
        small_model(other, ["quite another text"])
        (other / WEIGHTS).write_bytes((multilingual / WEIGHTS).read_bytes())
    result = store("model", "use", str(other))
    assert result.code == 2
    assert str(other) in result.err
    assert settings() == before
    assert store.json("model")["folder"] == str(multilingual)


def test_a_model_that_is_gone_is_left_for_another_one(store: Cli, multilingual: Path) -> None:
    store.write("queries.jsonl", json.dumps({"query": "backup", "relevant": {"en": 3}}) + "\n")
    store.ok("import", "queries.jsonl")
    store.ok("model", "use", str(multilingual))
    shutil.rmtree(multilingual)
    result = store("model")
    assert (result.code, str(multilingual) in result.err) == (2, True)
    store.ok("model", "use", "bundled")
    assert store.json("model")["bundled"]


def test_without_a_store_the_setting_is_made_all_the_same(cli: Cli, multilingual: Path) -> None:
    result = cli.bare("model", "use", str(multilingual))
    assert (result.code, result.err) == (0, "")
    assert str(multilingual) in settings()
    assert not list(cli.cwd.glob(".workbench"))


@pytest.mark.parametrize("words", [("use",), ("show", "x"), ("drop",)])
def test_wrong_usage_is_said(cli: Cli, words: tuple[str, ...]) -> None:
    assert cli.bare("model", *words).code == 2
    assert settings() == ""
