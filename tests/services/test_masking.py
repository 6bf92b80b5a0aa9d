"""Records as they may be shown: texts masked at every depth, names left alone, nothing copied for
nothing.
"""

from dataclasses import replace
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.safety.samples import keys
from tests.services.conftest import memory
from workbench.core.change import diff
from workbench.core.review.proposal import Proposal
from workbench.safety.scanning import mask, scan
from workbench.services.safety.masking import is_made, masked, masked_name

RULE, KEY = keys()["github"]
MARK = f"[secret: {RULE}]"


NAME = masked_name(KEY, mask)


def test_texts_are_masked_at_every_depth_and_a_secret_name_becomes_another() -> None:
    record = memory(
        KEY,
        f"the key {KEY}",
        tags=("ok", KEY),
        metadata={"notes": [{KEY: f"again {KEY}"}], "id": KEY},
    )
    shown = masked(record, mask)
    assert shown.id == NAME
    assert shown.content == f"the key {MARK}"
    assert shown.tags == ("ok", MARK)
    assert shown.metadata == {"notes": [{MARK: f"again {MARK}"}], "id": NAME}
    change = diff("memories", KEY, None, {"content": KEY})
    proposal = Proposal(
        "p", "merge", KEY, KEY, record.created_at, evidence=(KEY,), changes=(change,)
    )
    seen = masked(proposal, mask)
    assert seen.actor == NAME
    assert seen.evidence == (NAME,)
    assert seen.title == MARK
    assert seen.changes[0].fields["content"].after == MARK
    assert seen.changes[0].id == NAME
    assert NAME.startswith("masked-")
    assert masked_name(f"{KEY}2", mask) != NAME
    assert masked_name("mem-20260101-0000001", mask) == "mem-20260101-0000001"


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.from_regex(r"mem-[0-9]{8}-[0-9]{7}", fullmatch=True))
def test_an_id_as_the_store_makes_it_is_nothing_that_a_rule_finds(name: str) -> None:
    """Such names are not looked at, so no rule may find anything in one."""
    assert is_made(name)
    assert scan(name) == ()


@pytest.mark.parametrize(
    "name",
    ["mem-", "mem-1-2", "xoxb-20260101-0000001", f"mem-20260101-{KEY}", "mem-20260101-0000001\n"],
)
def test_any_other_name_is_looked_at(name: str) -> None:
    assert not is_made(name)


def test_what_holds_no_secret_stays_the_very_same_value() -> None:
    record = memory("a", "nothing to hide", metadata={"n": [1, None, {"x": "y"}]})
    assert masked(record, mask) is record
    assert masked(replace(record, content=KEY), mask).metadata is record.metadata


class Named(NamedTuple):
    what: str
    why: tuple[str, ...]


def test_a_value_with_named_fields_stays_one() -> None:
    value = Named("clean", ("clean", "too"))
    assert masked(value, lambda text: text) is value
    assert masked(value, lambda text: text.replace("too", "[secret]")) == Named(
        "clean", ("clean", "[secret]")
    )
    assert isinstance(masked(value, lambda text: text.replace("too", "[secret]")), Named)
