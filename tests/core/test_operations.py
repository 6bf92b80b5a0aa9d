"""Suggestions as JSON, and back."""

import json

import pytest

from workbench.core.playbook.operations import (
    Add,
    BulletTag,
    CreateMeta,
    Delete,
    Merge,
    Suggested,
    Update,
    from_json,
    named_ids,
    title,
    to_json,
)
from workbench.core.record import InvalidRecord

EVERY: list[tuple[Suggested, tuple[str, ...]]] = [
    (Add("RULES", "one"), ()),
    (Update("r-1", "two"), ("r-1",)),
    (Merge(("r-1", "r-2"), "three", "r-2"), ("r-1", "r-2")),
    (Merge(("r-1", "r-2"), "three"), ("r-1", "r-2")),
    (Delete("r-1"), ("r-1",)),
    (CreateMeta("NEW", "four"), ()),
    (BulletTag("r-1", "harmful"), ("r-1",)),
]


@pytest.mark.parametrize(("suggested", "names"), EVERY)
def test_what_is_written_is_read_again(suggested: Suggested, names: tuple[str, ...]) -> None:
    doc = json.loads(json.dumps(to_json(suggested, "book", "mark")))
    assert from_json(doc) == ("book", "mark", suggested)
    assert named_ids(suggested) == names
    assert all(name in title(suggested) for name in names)


def test_what_no_role_says_is_refused() -> None:
    for doc in ({}, {"type": "DESTROY"}, {"type": "TAG", "bullet_id": "x", "tag": "great"}):
        with pytest.raises(InvalidRecord):
            from_json(doc)
