"""What the model does not know is close by its words, and only to what it does not know either."""

import numpy as np

from workbench.retrieval.embedding.close_pairs import with_words

DIM = 256


def cosine(one: str, other: str) -> float:
    vectors = with_words(np.zeros((2, DIM), np.float32), [one, other])
    return float(vectors[0] @ vectors[1])


def test_texts_with_much_the_same_words_are_close_and_others_are_not() -> None:
    text = "部署前必须先运行数据库迁移脚本"
    assert cosine(text, text) > 0.999
    assert cosine(text, "部署前必须先运行的数据库迁移脚本") > 0.95
    assert cosine(text, "部署前不要运行数据库迁移脚本") > 0.9
    assert cosine(text, "今天的会议改到下午三点") < 0.7
    assert cosine("Запускай тесты перед релизом", "Встреча перенесена на три часа") < 0.7


def test_only_vectors_of_zero_are_replaced() -> None:
    known = np.eye(2, DIM, dtype=np.float32)
    assert with_words(known, ["部署", "测试"]) is known
    some = np.vstack([known[:1], np.zeros((2, DIM), np.float32)])
    mixed = with_words(some, ["deploy", "部署前运行测试", "。"])
    assert np.array_equal(mixed[0], known[0])
    assert abs(float(mixed[0] @ mixed[1])) < 0.4
    assert np.isclose(np.linalg.norm(mixed[1]), 1, atol=1e-5)
    assert not mixed[2].any(), "a text without words is close to nothing"
    assert not some[1:].any(), "the vectors for ranking stay as they are"
