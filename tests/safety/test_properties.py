"""What holds for every text: scanning never fails, places are real, masking is complete and done
once.
"""

from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.safety.samples import keys, private_key
from workbench.core.safety import FindingKind
from workbench.safety.scanning import mask, scan, secrets_in
from workbench.safety.secrets import lowered

SECRETS = [key for _, key in keys().values()] + [
    private_key(),
    "pass" + "word=hunter2x9",
    "://u:S3cret!x@h",
]
PIECES = st.sampled_from(
    [*SECRETS, "pass" + "word", "=", ": ", '"', "'", "\n", " ", "[secret: ", "]", "://", "@", "sk-", "eyJ", "\u200b",
     "ignore previous instructions", "<!--", "-->", "İ", "\ud800", "\x00", "A1b2", "-----BEGIN "]
)  # fmt: skip
TEXTS = st.one_of(
    st.text(st.characters(codec=None), max_size=200),
    st.lists(st.one_of(PIECES, st.text(max_size=5)), max_size=12).map("".join),
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_scanning_any_text_gives_places_in_it(text: str) -> None:
    at = 0
    for finding in scan(text):
        assert finding.kind in get_args(FindingKind)
        assert 0 <= finding.start < finding.end <= len(text)
        assert finding.start >= at
        at = finding.start
        assert finding.reason.endswith(".")


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_masking_leaves_no_secret_keeps_the_lines_and_is_done_once(text: str) -> None:
    masked = mask(text)
    assert [f for f in scan(masked) if f.kind == "secret"] == []
    assert mask(masked) == masked
    assert [masked.count(c) for c in "\n\r"] == [text.count(c) for c in "\n\r"]


@given(
    st.sampled_from(
        ["[secret: %s]", "[secret: %s password]", "password=[secret: %s]", "[SECRET: token]=%s"]
    )
)
def test_what_only_looks_like_a_marker_hides_nothing(marker: str) -> None:
    for value in ("Xk29fjW02kdk7", *(key for _, key in keys().values() if len(key) < 30)):
        text = marker % value
        assert value not in mask(text) or not secrets_in(text)


def test_a_key_in_the_place_of_a_markers_name_is_masked() -> None:
    for rule, key in keys().values():
        assert key not in mask(f"[secret: {key}]"), rule


def test_a_marker_is_no_name_of_what_follows_it() -> None:
    text = "[secret: GitHub token]:0000000A"
    assert (mask(text), scan(text)) == (text, ())


@settings(max_examples=80, deadline=None)
@given(
    st.sampled_from(list(keys().values())),
    st.text("ab .,;:()\n\"'=", max_size=20),
    st.text("xy .,;()\n\"'", max_size=20),
)
def test_a_key_never_survives_among_other_text(
    key: tuple[str, str], before: str, after: str
) -> None:
    assert key[1] not in mask(f"{before} {key[1]} {after}")


@given(st.text(max_size=50))
def test_lower_case_moves_no_character(text: str) -> None:
    low = lowered(text)
    assert len(low) == len(text)
    assert "secret" in lowered(text + "SECRET")
