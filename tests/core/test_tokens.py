"""The estimate of tokens against what two tokenizers count: `record_tokens.mjs` recorded 40 texts."""

import json
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.tokens import beginning, tokens_of

RECORDED = [
    json.loads(line)
    for line in Path(__file__).with_name("tokens.jsonl").read_text("utf-8").splitlines()
]
KINDS = {kind: list(texts) for kind, texts in groupby(RECORDED, key=lambda text: str(text["kind"]))}


@pytest.mark.parametrize("counter", ["o200k", "claude"])
@pytest.mark.parametrize("kind", ["english", "code", "json", "chinese", "japanese"])
def test_the_estimate_is_within_a_fifth_of_what_a_tokenizer_counts(kind: str, counter: str) -> None:
    texts = KINDS[kind]
    assert sum(tokens_of(text["text"]) for text in texts) == pytest.approx(
        sum(t[counter] for t in texts), rel=0.2
    )


@pytest.mark.parametrize("text", [t for kind in ("english", "code", "json") for t in KINDS[kind]])
def test_so_it_is_for_each_text_that_is_ascii(text: dict[str, Any]) -> None:
    found = tokens_of(text["text"])
    assert [found, found] == pytest.approx([text["o200k"], text["claude"]], rel=0.2)


@pytest.mark.parametrize("text", [text for kind in ("korean", "russian") for text in KINDS[kind]])
def test_the_estimate_lies_between_two_tokenizers_that_differ_much(text: dict[str, Any]) -> None:
    assert text["o200k"] <= tokens_of(text["text"]) <= text["claude"]


@given(st.text(), st.integers(-1, 60))
def test_the_beginning_of_a_text_is_as_much_as_the_tokens_allow(text: str, tokens: int) -> None:
    found = beginning(text, tokens)
    assert text.startswith(found)
    assert tokens_of(found) <= max(0, tokens)
    assert found == text or tokens_of(text[: len(found) + 1]) > tokens
