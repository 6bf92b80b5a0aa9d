"""Which of two ways to say something is better remembered."""

import pytest

from workbench.reflect.extractive import quality


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (
            "Always run the migration on a copy of production first.",
            "We ran the migration on a copy of production today.",
        ),
        (
            "The pool is shared by all four machines of the api.",
            "It is shared by all four machines of the api, then.",
        ),
        (
            "Good sleep takes care of most of the stress for me.",
            "I mean, good sleep sort of, you know, takes care of it.",
        ),
        (
            "Exports are streamed in parts because of the memory.",
            "tests/exports 17 passed in 2.2s, 0 failed, 3 skipped.",
        ),
        (
            "Deploys to production need a second person to watch.",
            "Deploy of 2026-03-19 at 14:52 needs a person to watch.",
        ),
        (
            "The queue is drained before the worker restarts itself.",
            "You should see how the worker drains its own queue!",
        ),
    ],
)
def test_what_lasts_is_better_than_what_passes(better: str, worse: str) -> None:
    assert quality(better, better) > 1.2 * quality(worse, worse)


def test_a_speaker_in_front_does_not_hide_how_a_sentence_begins() -> None:
    text = "And that is why the queue is drained before the restart."
    assert quality(text, f"Ines: {text}") == quality(text, text)


@pytest.mark.parametrize("text", ["x", "1" * 300, "!" * 10, "a" * 5_000])
def test_any_text_has_a_quality(text: str) -> None:
    assert 0 <= quality(text, text) < 3
