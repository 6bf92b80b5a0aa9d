"""What is read of a text: the beginning of keys and codes, and nothing of a text that the model
does not know.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model2vec import StaticModel
from tokenizers import Tokenizer
from tokenizers.models import Unigram
from tokenizers.pre_tokenizers import Metaspace

from tests.safety.hostile import NAMES, hostile, prose
from workbench.retrieval.embedding.embedder import Embedder, Tokens, reading_model

LONG = 8_000
UNKNOWN = (
    "数据库迁移失败了,请检查日志", "データベースの移行に失敗しました", "마이그레이션이 실패하면 되돌린다",
    "миграция базы данных не прошла", "فشل ترحيل قاعدة البيانات", "ההגירה נכשלה", "डेटाबेस माइग्रेशन विफल रहा",
    "การย้ายฐานข้อมูลล้มเหลว", "η μετάβαση απέτυχε", "Redis 캐시 TTL을 300초로 설정하면 오류가 사라진다",
)  # fmt: skip
KNOWN = (
    "the migration failed", "größere Straßenbahn für naïve Köche", "404 502", "x = λ y . μ", "✅✅✅ ⚡⚡ ok",
    "The team in 東京 deployed the α version on Monday", "C++ 🎉🎉🎉🎉", "Ærø — “où est-ce que l’œuf”",
)  # fmt: skip


@pytest.fixture(scope="module")
def model() -> StaticModel:
    found = Embedder()._model
    assert isinstance(found, reading_model())
    return found


def as_read_whole(model: StaticModel, texts: list[str]) -> Tokens:
    """Return the tokens of texts that the model knows, split to their ends."""
    found = StaticModel.tokenize(model, texts)
    return [ids if kept else [] for ids, kept in zip(found, model.tokenize(texts), strict=True)]


@pytest.mark.slow
def test_a_text_has_the_tokens_that_are_read_of_the_whole(model: StaticModel) -> None:
    texts = [prose(LONG), "short", "", *(hostile(name, LONG) for name in NAMES)]
    assert model.tokenize(texts) == as_read_whole(model, texts)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.text(st.sampled_from("aZ9é\u0301 +/.-_=\n漢\x07"), min_size=0, max_size=40), max_size=4
    )
)
def test_however_a_text_is_cut(parts: list[str]) -> None:
    model = Embedder()._model
    texts = [part * (LONG // len(part)) if part else part for part in parts]
    assert model.tokenize(texts) == as_read_whole(model, texts)


@pytest.mark.parametrize("text", UNKNOWN)
def test_a_text_whose_letters_the_model_spells_or_does_not_have_is_a_zero_vector(text: str) -> None:
    assert not Embedder().embed([text, f"{text} {text}"]).any()


@pytest.mark.parametrize("text", KNOWN)
def test_what_the_model_knows_mostly_has_a_vector(text: str) -> None:
    assert np.linalg.norm(Embedder().embed([text])[0]) == pytest.approx(1, abs=1e-5)


def test_a_model_that_has_the_words_of_a_script_is_not_punished(tmp_path: Path) -> None:
    words = [
        "▁миграция",
        "▁базы",
        "▁данных",
        "▁в",
        "▁и",
        "▁не",
        "▁прошл",
        "а",
        "▁迁移",
        "失败",
        "了",
        "的",
        "▁移行",
        "に",
        "した",
    ]
    vocabulary = [("[UNK]", 0.0), *((word, -2.0) for word in words)]
    tokenizer = Tokenizer(Unigram(vocabulary, unk_id=0, byte_fallback=False))
    tokenizer.pre_tokenizer = Metaspace()
    vectors = np.random.default_rng(1).normal(size=(len(vocabulary), 8)).astype(np.float32)
    from safetensors.numpy import save_file

    save_file({"embeddings": vectors}, tmp_path / "model.safetensors")
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "config.json").write_text(json.dumps({"normalize": True}))
    embedder = Embedder(tmp_path)
    assert (
        embedder.embed(["миграция базы данных и не прошла", "迁移失败了", "移行に失败した"])
        .any(axis=1)
        .all()
    )
    assert not embedder.embed(["마이그레이션이 실패", "데이터"]).any()
