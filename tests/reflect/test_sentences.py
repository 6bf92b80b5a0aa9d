"""Which sentences of memories stand for themselves."""

from datetime import UTC, datetime

import pytest

from workbench.core.stream.memory import Memory
from workbench.reflect.languages import (
    MOST_PER_MEMORY,
    is_statement,
    sentences_of,
    split,
)

AT = datetime(2026, 3, 20, tzinfo=UTC)


def memory(content: str, **fields: object) -> Memory:
    return Memory("m", content, AT, AT, **fields)  # type: ignore[arg-type]


def told(*contents: str) -> list[str]:
    return [s.told for s in sentences_of([memory(c) for c in contents])]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One thing. Another thing.", ["One thing.", "Another thing."]),
        (
            "Use a lock, e.g. Redis has one. Then go.",
            ["Use a lock, e.g. Redis has one.", "Then go."],
        ),
        ("It took 3.5 s in v1.2.3. Fine now.", ["It took 3.5 s in v1.2.3.", "Fine now."]),
        ("Born in the U.S. Army.", ["Born in the U.S. Army."]),
        ("See api/main.py for it. done", ["See api/main.py for it. done"]),
        ("Is it? Yes! Sure.", ["Is it?", "Yes!", "Sure."]),
        ("A nice day. [shares a picture: a dog]", ["A nice day.", "[shares a picture: a dog]"]),
    ],
)
def test_a_paragraph_is_split_at_the_ends_of_sentences(text: str, parts: list[str]) -> None:
    assert split(text) == parts
    assert all(part in text for part in parts)


@pytest.mark.parametrize(
    "text",
    [
        "Hey Mel, it is so good to see you again!", "Thanks for telling me about all of this.",
        "What would you do about the flaky tests?", "Wow, that is an amazing achievement!", "Too short.",
        "Traceback (most recent call last)", "$ pytest -q tests/auth", "[shares a picture: a photo of a dog]",
        "12:30:14 0x7f3a 0x11 0x12 0x13 404 500 12 33", "Yes, we have been doing that.",
        "The following things matter here:",
    ],
)  # fmt: skip
def test_small_talk_questions_and_logs_are_no_statements(text: str) -> None:
    assert not is_statement(text)


def test_a_rule_is_a_statement() -> None:
    assert is_statement("Always run the migrations on a copy of production first.")


def test_code_is_left_out() -> None:
    text = (
        "Claim the event before doing any work.\n\n    row = claim(event)\n\n"
        "```\nWe are inside of a fence here.\n```\n"
    )
    assert told(text) == ["Claim the event before doing any work."]


def test_a_list_item_loses_its_bullet() -> None:
    assert told("- Migrations run on a copy first.") == ["Migrations run on a copy first."]


def test_a_word_in_brackets_in_front_says_the_kind_and_is_no_part_of_a_sentence() -> None:
    text = "Controllers should be thin and leave the business logic to the services."
    assert told(f"[PATTERN] {text}") == [text]
    assert told("[shares a picture: a dog on a bench in the park]") == []


def test_who_speaks_is_told_once_they_speak_in_three_memories() -> None:
    one = "Ines: The cluster allows a hundred connections. Every machine keeps a small pool."
    assert told(one)[1] == "Every machine keeps a small pool."
    three = told(
        one,
        "Ines: Staging may always be deployed freely.",
        "Ines: Production deploys need her approval.",
    )
    assert three[:2] == [
        "Ines: The cluster allows a hundred connections.",
        "Ines: Every machine keeps a small pool.",
    ]


def test_somebody_who_mostly_asks_is_not_proposed() -> None:
    talk = [
        f"Interviewer: Some people move a lot in their lives. Where did you live in {place}?\n\n"
        f"Joon: My family moved to {place} for the work."
        for place in ("Boston", "Seoul", "Concord")
    ]
    assert {s.split(":")[0] for s in told(*talk)} == {"Joon"}


def test_what_is_known_supports_but_is_not_proposed() -> None:
    text = "Migrations always run on a copy of production first."
    made = [memory(text), memory(text, status="confirmed"), memory(text, is_synthetic=True)]
    assert [s.proposable for s in sentences_of(made)] == [True, False, False]


def test_a_very_long_memory_takes_part_with_its_first_sentences() -> None:
    text = " ".join(
        f"Deploy number {word} took the whole pool down again." for word in "abcdefghij" * 10
    )
    assert len(sentences_of([memory(text)])) == MOST_PER_MEMORY
