"""Secrets drawn anew are masked, 300 tokens of real projects are not, and no text makes looking for them slow."""

import math
import time
from pathlib import Path

import pytest

from tests.safety.fresh import KINDS, fresh
from tests.safety.hostile import NAMES, hostile
from tests.safety.order_sets import Half, half
from workbench.safety.scanning import mask, scan

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


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("length", [15_000, pytest.param(30_000, marks=pytest.mark.slow)])
def test_looking_at_a_text_is_linear_in_its_length(name: str, length: int) -> None:
    """Eight times the text costs less than thrice eight times as much; a square would be 64 times."""
    most = 24 * max(_seconds(hostile(name, length)), length / 15_000_000)
    large = _seconds(hostile(name, 8 * length), enough=most)
    assert large < most, (large, most)


def _seconds(text: str, enough: float = 0.0) -> float:
    """Return the least processor time of three looks at a text, or of the first that took less than `enough`."""
    least = math.inf
    for _ in range(3):
        start = time.process_time()
        scan(text)
        least = min(least, time.process_time() - start)
        if least < enough:
            break
    return least
