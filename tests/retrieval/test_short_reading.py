"""Of keys and codes only as much is split into tokens as is read, and the vectors are the same."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model2vec import StaticModel

from tests.safety.hostile import NAMES, hostile, prose
from workbench.retrieval.embedding.embedder import Embedder
from workbench.retrieval.embedding.short_reading import short_reading

LONG = 8_000


@pytest.fixture(scope="module")
def model() -> StaticModel:
    found = Embedder()._model
    assert isinstance(found, short_reading())
    return found


@pytest.mark.slow
def test_a_text_has_the_tokens_that_are_read_of_the_whole(model: StaticModel) -> None:
    texts = [prose(LONG), "short", "", *(hostile(name, LONG) for name in NAMES)]
    assert model.tokenize(texts) == StaticModel.tokenize(model, texts)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(st.sampled_from("aZ9é\u0301 +/.-_=\n漢\x07"), min_size=0, max_size=40), max_size=4))
def test_however_a_text_is_cut(parts: list[str]) -> None:
    model = Embedder()._model
    texts = [part * (LONG // len(part)) if part else part for part in parts]
    assert model.tokenize(texts) == StaticModel.tokenize(model, texts)


def test_no_more_of_a_dense_text_is_split_than_is_read(model: StaticModel, monkeypatch: pytest.MonkeyPatch) -> None:
    split: list[int] = []

    def tokenize(self: StaticModel, sentences: Sequence[str]) -> list[list[int]]:
        split.extend(map(len, sentences))
        return real(self, sentences)

    real = StaticModel.tokenize
    monkeypatch.setattr(StaticModel, "tokenize", tokenize)
    assert all(map(len, model.tokenize([hostile("long base64", LONG), hostile("many keys", LONG)])))
    assert split == []
    assert np.any(Embedder().embed([prose(LONG)]))
    assert split
