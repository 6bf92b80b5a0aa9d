"""Long texts that are one secret after the other are masked a stretch at a time, and nothing of any of them stays."""

import random
from functools import cache

import pytest

from tests.safety.fresh import fresh
from tests.safety.hostile import prose
from workbench.safety.scanning import mask, secrets_in
from workbench.safety.secrets import BEGINNING, CROWD, LONG, RULE, STRETCH


@cache
def keys(count: int) -> tuple[str, ...]:
    """Return keys of which each is another one."""
    return tuple(fresh(str(number))["github"].secret for number in range(count))


@pytest.mark.slow
@pytest.mark.parametrize("between", [" ", "\n"])
@pytest.mark.parametrize("before", [0, STRETCH - 700, STRETCH - 20, STRETCH - 1, STRETCH])
def test_nothing_of_a_key_stays_at_the_borders_of_a_crowd(before: int, between: str) -> None:
    every = keys(LONG // 40)
    plain = prose(before)
    text = (
        f"{plain[: before - 1]}{between}{between.join(every)}{between}The end of it." if before else between.join(every)
    )
    hidden = mask(text)
    assert any(one.rule == RULE for one in secrets_in(text))
    assert [key for key in every if key in hidden or key[:20] in hidden or key[-20:] in hidden] == []
    assert hidden[:200] == text[:200] or not before


def test_a_long_text_with_few_secrets_names_each_of_them() -> None:
    every = keys(CROWD - 1)
    words = prose(LONG + BEGINNING).split()
    dice = random.Random(1)
    for key in every:
        words.insert(dice.randrange(len(words)), key)
    text = " ".join(words)
    found = [text[one.start : one.end] for one in secrets_in(text)]
    assert sorted(found) == sorted(every)
