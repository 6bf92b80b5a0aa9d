"""What a person reads when Claude cannot be asked, and that the key is nowhere in it."""

import logging
import socket
import threading
import traceback
from typing import Any

import pytest

from tests.reflect.samples import KEY, REQUEST, ignore, never, reflector
from tests.reflect.server import Reply, error_reply, messages_server, reply_of
from workbench.core.limits import LlmSettings
from workbench.core.reflection.reflector import Reflection, ReflectionProblem
from workbench.reflect.claude.asker import Budget
from workbench.reflect.claude.reflector import ClaudeReflector

ENVIRONMENT = (
    "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE", "ANTHROPIC_CONFIG_DIR", "ANTHROPIC_BASE_URL",
    "ANTHROPIC_FEDERATION_RULE_ID", "ANTHROPIC_CUSTOM_HEADERS",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)


def problem_with(*script: Reply, retries: int = 0, **settings: Any) -> ReflectionProblem:
    with messages_server(script) as server, pytest.raises(ReflectionProblem) as raised:
        reflector(server.url, retries=retries, **settings).reflect(REQUEST, ignore, never)
    return raised.value


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "reply", "message", "hint"),
    [
        (400, "invalid_request.json", "this model takes no temperature", "claude.temperature"),
        (400, "too_long.json", "too large", "claude.memories"),
        (401, "invalid_key.json", "did not accept the API key", "ANTHROPIC_API_KEY"),
        (403, "permission.json", "may not use the model claude-sonnet-5-5", "claude.model"),
        (404, "not_found.json", "no model “claude-sonnet-5-5”", "claude.model"),
        (413, "too_large.json", "too large", "claude.memories"),
        (429, "rate_limit.json", "rate limit", "few minutes"),
        (500, "api_error.json", "failed (status 500)", "later"),
        (529, "overloaded.json", "overloaded", "few minutes"),
    ],
)
def test_an_error_of_the_api_is_one_sentence_and_a_hint(
    status: int, reply: str, message: str, hint: str
) -> None:
    problem = problem_with(reply_of(reply, status=status))
    assert message in problem.message
    assert problem.message.endswith(".")
    assert hint in problem.hint
    assert problem.found == Reflection("claude", (), complete=False, stopped=problem.message)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (reply_of("refusal.sse"), "declined"),
        (Reply("", stop_reason="refusal"), "declined"),
        (Reply(""), "empty"),
        (Reply(" \n "), "empty"),
        (reply_of("no_events.sse"), "is not one of Claude"),
        (Reply(body="<html>a proxy</html>"), "is not one of Claude"),
        (Reply("no line ends", stop_reason="max_tokens"), "cut off at 2,000 tokens"),
    ],
)
def test_a_reply_that_is_none_is_a_problem_that_keeps_it(reply: Reply, message: str) -> None:
    problem = problem_with(reply)
    assert message in problem.message
    assert problem.found is not None
    assert not problem.found.complete


@pytest.mark.parametrize("name", ["malformed.json", "not_a_message.json", "refusal.json"])
def test_a_whole_reply_that_is_none(name: str) -> None:
    with messages_server([reply_of(name)]) as server, pytest.raises(ReflectionProblem) as raised:
        reflector(server.url).merged_text("a", "b")
    assert raised.value.message.startswith(
        "Claude declined" if name == "refusal.json" else "The reply from 127.0.0.1"
    )


def test_a_rate_limit_is_waited_for_as_the_api_says() -> None:
    limited = reply_of("rate_limit.json", status=429, headers={"retry-after": "0.01"})
    broken = reply_of("overloaded.json", status=529, headers={"retry-after-ms": "5"})
    with messages_server([limited, broken, Reply("1. a?"), Reply("1. b")]) as server:
        found = reflector(server.url, retries=2).reflect(REQUEST, ignore, never)
    assert found.complete
    assert [seen.headers["x-stainless-retry-count"] for seen in server.requests] == [
        "0",
        "1",
        "2",
        "0",
    ]


def test_after_the_last_try_the_problem_is_told() -> None:
    limited = reply_of("rate_limit.json", status=429, headers={"retry-after-ms": "5"})
    assert "rate limit" in problem_with(limited, limited, limited, retries=2).message


def test_a_server_that_is_not_there() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    with pytest.raises(ReflectionProblem, match=r"cannot be reached at 127.0.0.1\.") as raised:
        reflector(f"http://user:hidden@127.0.0.1:{port}").reflect(REQUEST, ignore, never)
    assert "hidden" not in str(raised.value)


@pytest.mark.parametrize("url", ["nonsense", "http://[half", "ftp://127.0.0.1"])
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(ReflectionProblem):
        reflector(url).reflect(REQUEST, ignore, never)


def test_a_server_that_does_not_answer() -> None:
    hold = threading.Event()
    with messages_server([Reply("x", hold=hold)]) as server:
        slow = ClaudeReflector(LlmSettings(), None, server.url, KEY, timeout=0.1, retries=0)
        with pytest.raises(ReflectionProblem, match="did not answer in time"):
            slow.merged_text("a", "b")
        hold.set()


def test_without_a_key_nothing_is_sent_and_the_way_to_set_one_is_told() -> None:
    with (
        messages_server([]) as server,
        pytest.raises(ReflectionProblem, match="No API key") as raised,
    ):
        ClaudeReflector(LlmSettings(), base_url=server.url).reflect(REQUEST, ignore, never)
    assert "ANTHROPIC_API_KEY" in raised.value.hint
    assert server.requests == []


def test_key_and_address_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with messages_server([Reply("1. a?"), Reply("1. b")]) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        assert ClaudeReflector(LlmSettings()).reflect(REQUEST, ignore, never).complete
    headers = server.requests[0].headers
    assert KEY in headers.get("authorization", "") + headers.get("x-api-key", "")


@pytest.mark.slow
@pytest.mark.parametrize(
    "reply",
    [
        error_reply(400, "invalid_request_error", f"what is {KEY}? or sk-ant-oat01-AbC_9?"),
        error_reply(401, "authentication_error", f"invalid x-api-key: {KEY}"),
        error_reply(403, "permission_error", f"{KEY} may not"),
        reply_of("overloaded.json", status=529),
        Reply("1. a", dropped=True),
        Reply("", stop_reason="refusal"),
        reply_of("no_events.sse"),
    ],
)
def test_the_key_is_nowhere(
    reply: Reply, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    with messages_server([reply]) as server:
        claude = reflector(server.url)
        with pytest.raises(ReflectionProblem) as raised:
            claude.reflect(REQUEST, ignore, never)
    problem = raised.value
    # The frames of the workbench, with what their variables hold; the first one is this test.
    assert problem.__traceback__ is not None
    frames = traceback.TracebackException(
        type(problem), problem, problem.__traceback__.tb_next, capture_locals=True
    ).format()
    said = "\n".join(
        (str(problem), repr(problem), repr(problem.args), repr(problem.found), *frames)
    )
    assert problem.__cause__ is None
    assert problem.__context__ is None
    printed = capsys.readouterr()
    for text in (
        said,
        repr(claude),
        caplog.text,
        printed.out,
        printed.err,
        *map(repr, caplog.records),
    ):
        assert KEY not in text
        assert "sk-ant-oat" not in text


def test_the_budget_stops_before_anything_is_sent() -> None:
    with messages_server([]) as server, pytest.raises(ReflectionProblem) as raised:
        reflector(server.url, Budget(1_000_000, 999_000)).reflect(REQUEST, ignore, never)
    assert "999,000 of this month's 1,000,000" in raised.value.message
    assert "claude.monthly_tokens" in raised.value.hint
    assert server.requests == []


def test_the_budget_stops_between_calls_and_keeps_what_was_found() -> None:
    dear = Reply("1. a?\n2. b?", usage=(3_000, 100))
    with messages_server(
        [dear, Reply("1. c (because of 1)", usage=(6_600, 0)), Reply("1. d")]
    ) as server:
        found = reflector(server.url, Budget(10_000, 0)).reflect(REQUEST, ignore, never)
    assert [i.text for i in found.insights] == ["c"]
    assert "9,701 of this month's 10,000" in found.stopped
    assert len(server.requests) == 2


def test_no_limit_is_no_limit() -> None:
    with messages_server([Reply("1. a?"), Reply("1. b")]) as server:
        assert reflector(server.url, Budget(0, 10**12)).reflect(REQUEST, ignore, never).complete


def test_a_key_of_any_form_is_taken_out_of_what_the_api_says() -> None:
    echo = error_reply(400, "invalid_request_error", "the token plain-token-42 is odd")
    with messages_server([echo]) as server:
        claude = ClaudeReflector(LlmSettings(), None, server.url, "plain-token-42", retries=0)
        with pytest.raises(ReflectionProblem, match="the token … is odd"):
            claude.merged_text("a", "b")
