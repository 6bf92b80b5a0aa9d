"""Secrets drawn anew are masked, and 300 tokens of real projects are not."""

from pathlib import Path

import pytest

from tests.safety.fresh import KINDS, fresh
from tests.safety.order_sets import Half, half
from workbench.safety.scanning import mask

HARMLESS = (Path(__file__).parent / "harmless.txt").read_text("utf-8").splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_secret_is_masked_however_it_is_drawn(kind: str) -> None:
    for seed in range(20):
        drawn = fresh(f"{seed}")[kind]
        assert drawn.secret not in mask(drawn.text), drawn.text


@pytest.mark.parametrize("which", ["dev", "held"])
def test_at_most_two_in_a_hundred_harmless_texts_are_masked(which: Half) -> None:
    """Half of them nobody looks at when a rule is changed (see `order_sets.half`)."""
    texts = {text for text in HARMLESS if half(text) == which}
    assert len(texts) >= 300
    wrong = [text for text in texts if mask(text) != text]
    assert len(wrong) <= len(texts) * 0.02, wrong


NO_SECRET = [
    "data/token=abc123def/notes.md",
    "token: refresh-token-rotation-2024",
    "url: ${DB_PASS:-dev1234}",
    'ETag: W/"aB3dE5fG7hI9jK1lM3nO5pQ7rS"',
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl me@host",
]


@pytest.mark.parametrize("text", NO_SECRET)
def test_what_only_stands_where_a_secret_could_is_left_alone(text: str) -> None:
    assert mask(text) == text
