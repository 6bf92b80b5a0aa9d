"""Saved replies of the ACE roles: found by their content, unreadable parts with their lines."""

import pytest

from tests.core.samples import NOW
from workbench.core.curation import Analysis, BulletTag, Curation
from workbench.core.errors import UnreadableFile
from workbench.formats import ace_replies, registry
from workbench.formats.model import ReadContext
from workbench.paths import shipped

CONTEXT = ReadContext(NOW, "reply.txt")
REPLIES = shipped("fixtures/demo").parent / "replies"


@pytest.mark.parametrize(("name", "parts", "odd"), [("curation.txt", 5, 2), ("analysis.txt", 2, 1)])
def test_replies_with_prose_around_them(name: str, parts: int, odd: int) -> None:
    text = (REPLIES / name).read_text()
    assert registry.detect(name, text)[0].format == "ace-reply"
    parsed = ace_replies.read(text, CONTEXT)
    assert (parsed.records_read, len(parsed.issues), parsed.records_in) == (parts, odd, parts + odd)
    assert all(issue.line >= 1 for issue in parsed.issues)


def test_roles_are_told_apart() -> None:
    curation = ace_replies.read_reply('[{"type": "DELETE", "bullet_id": "x"}]')
    analysis = ace_replies.read_reply('{"key_insight": "look", "bullet_tags": [{"id": "x", "tag": "helpful"}]}')
    assert isinstance(curation, Curation)
    assert isinstance(analysis, Analysis)
    assert analysis.bullet_tags == (BulletTag("x", "helpful"),)


def test_the_line_of_an_unreadable_part() -> None:
    text = '{"operations": [\n{"type": "DELETE", "bullet_id": "x"},\n{"type": "SING"}]}'
    (issue,) = ace_replies.read(text, CONTEXT).issues
    assert (issue.line, issue.records) == (3, 1)
    assert "no operation “SING”" in issue.reason


def test_what_is_no_reply() -> None:
    with pytest.raises(UnreadableFile, match="no reply"):
        ace_replies.read("hello", CONTEXT)
