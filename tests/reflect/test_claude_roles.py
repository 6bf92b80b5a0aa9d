"""The ACE roles and the merging of two texts, through the real SDK against a local server."""

import pytest

from tests.reflect.prompts import BULLETS, PLAYBOOK
from tests.reflect.samples import reflector
from tests.reflect.server import Reply, messages_server, reply_of
from workbench.core.playbook.operations import BulletTag, Delete
from workbench.core.reflection.reflector import ReflectionProblem, Step, Usage
from workbench.reflect.claude import asks

RUN = asks.Run("Sum my payments", "api(page=0) → 20 items", "12.50", "99.00")


def test_a_run_is_analysed() -> None:
    steps: list[Step] = []
    with messages_server([reply_of("analysis.txt")]) as server:
        analysis = reflector(server.url).ace_reflect(RUN, BULLETS, steps.append)
    assert analysis.bullet_tags[0] == BulletTag("shr-00001", "helpful")
    assert server.requests[0].prompt == asks.analyse(RUN, BULLETS).text
    assert "".join(step.text for step in steps) == reply_of("analysis.txt").text
    assert {step.stage for step in steps} == {"analyse"}


def test_lessons_become_operations() -> None:
    with messages_server([reply_of("curation.txt")]) as server:
        curation = reflector(server.url).ace_curate(["Page until empty"], PLAYBOOK, room=200)
    assert curation.operations[3].operation == Delete("err-00004")
    assert len(curation.odd) == 2
    assert server.requests[0].prompt == asks.curate(["Page until empty"], PLAYBOOK, 200).text


@pytest.mark.parametrize("reply", [reply_of("prose.txt"), Reply('{"operations": [{"type"')])
def test_a_reply_that_cannot_be_read_is_kept_with_the_reason(reply: Reply) -> None:
    with messages_server([reply]) as server:
        claude = reflector(server.url)
        with pytest.raises(ReflectionProblem, match="JSON") as raised:
            claude.ace_curate([], PLAYBOOK)
    found = raised.value.found
    assert found is not None
    assert [(u.stage, u.reply, u.reason) for u in found.unread] == [
        ("curate", reply.text, raised.value.message)
    ]
    assert found.usage == claude.used == Usage(120, 40)


def test_a_reply_that_was_cut_off_is_kept() -> None:
    cut = Reply('{"reasoning": "so', stop_reason="max_tokens")
    with (
        messages_server([cut]) as server,
        pytest.raises(ReflectionProblem, match="cut off") as raised,
    ):
        reflector(server.url).ace_reflect(RUN, ())
    assert raised.value.found is not None
    assert raised.value.found.unread[0].reply == '{"reasoning": "so'
    assert "claude.max_tokens" in raised.value.hint


def test_two_texts_become_one() -> None:
    with messages_server([reply_of("merged.txt"), reply_of("merged.json")]) as server:
        claude = reflector(server.url)
        assert claude.merged_text("Use pnpm", "never npm").startswith(
            "Use pnpm 9 in this repository, never npm:"
        )
        assert (
            claude.merged_text("Use pnpm", "never npm")
            == "Use pnpm 9 in this repository, never npm."
        )
    assert claude.used == Usage(120 + 60, 40 + 21)
    assert "stream" not in server.requests[0].body


def test_a_cancelled_call_says_so() -> None:
    with (
        messages_server([reply_of("merged.txt")]) as server,
        pytest.raises(ReflectionProblem, match="cancelled"),
    ):
        reflector(server.url).merged_text("a", "b", cancelled=lambda: True)


def test_any_prompt_can_be_previewed() -> None:
    claude = reflector("http://127.0.0.1:9")
    prompt = asks.merge("a", "b")
    preview = claude.preview_of(prompt)
    assert preview.texts == (prompt.text,)
    assert preview.estimate == Usage(prompt.tokens, 500)
