"""Asking Claude one prompt at a time, within the budget."""

import queue
import re
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple
from urllib.parse import urlsplit

from workbench.core.limits import LlmSettings
from workbench.core.record import as_object
from workbench.core.reflection.llm import UnreadReply
from workbench.core.reflection.reflector import (
    Reflection,
    ReflectionProblem,
    Step,
    Tell,
    Usage,
)
from workbench.core.runtime import Cancelled
from workbench.core.text import one_line
from workbench.core.tokens import tokens_of
from workbench.reflect.claude.asks import Prompt
from workbench.reflect.claude.keys import HOW_TO, has_key

if TYPE_CHECKING:
    import anthropic
    import httpx2


# What can go wrong with a call, in sentences. Never holds a key.


Kind = Literal[
    "status", "connection", "timeout", "dropped", "malformed", "no key", "credentials", "broken", "refusal", "cut",
    "empty", "cancelled",
]  # fmt: skip

DEFAULT_URL = "https://api.anthropic.com"
NOWHERE = "an address without a host"
KEPT = "Nothing in the store was changed."
FEWER = "Lower claude.memories in the config, or mark fewer memories."
_KEY = re.compile(r"sk-ant-[\w-]+")


class Trouble(NamedTuple):
    """One failed call. `status` is the HTTP status, `type` the API's name of the error, `said` its
    own words.
    """

    kind: Kind
    status: int = 0
    type: str = ""
    said: str = ""


def scrubbed(text: str, secrets: tuple[str, ...]) -> str:
    """Return `text` in one line of at most 200 characters, without any of the secrets or anything
    like a key.
    """
    for secret in secrets:
        text = text.replace(secret, "…") if secret else text
    return one_line(_KEY.sub("…", text), 200)


def host_of(url: str | None) -> str:
    """Return the host a call goes to, without names and passwords that an address may hold."""
    return _named_host(url) or NOWHERE


def _named_host(url: str | None) -> str | None:
    try:
        return urlsplit(url or DEFAULT_URL).hostname
    except ValueError:
        return None


def sentences(trouble: Trouble, settings: LlmSettings, url: str | None) -> tuple[str, str]:
    if trouble.kind == "status":
        return _of_status(trouble, settings)
    host = host_of(url)
    if _named_host(url) is None and trouble.kind in ("connection", "timeout", "malformed"):
        hint = f"Unset ANTHROPIC_BASE_URL, or set an address such as {DEFAULT_URL}. {KEPT}"
        return "The address set for Claude has no host, so nothing was sent.", hint
    known: dict[Kind, tuple[str, str]] = {
        "connection": (
            f"Claude cannot be reached at {host}.",
            f"Check the network or a proxy. {KEPT}",
        ),
        "timeout": (f"Claude at {host} did not answer in time.", f"Try again later. {KEPT}"),
        "dropped": (
            "The connection to Claude broke off during the reply.",
            f"Try again. {KEPT}",
        ),
        "malformed": (
            f"The reply from {host} is not one of Claude.",
            f"Check ANTHROPIC_BASE_URL. {KEPT}",
        ),
        "no key": ("No API key for Claude.", HOW_TO),
        "credentials": (
            "The credentials for Claude could not be loaded.",
            f"Check the profile, or: {HOW_TO}",
        ),
        "broken": ("The call to Claude failed unexpectedly.", KEPT),
        "refusal": (
            "Claude declined to answer.",
            f"Reflect on other memories, or word the focus differently. {KEPT}",
        ),
        "cut": (
            f"Claude's reply was cut off at {settings.max_tokens:,} tokens.",
            "Raise claude.max_tokens in the config.",
        ),
        "empty": ("Claude's reply was empty.", f"Try again. {KEPT}"),
        "cancelled": ("The call to Claude was cancelled.", KEPT),
    }
    return known.get(trouble.kind, known["broken"])


def _of_status(trouble: Trouble, settings: LlmSettings) -> tuple[str, str]:
    said = f": {trouble.said.rstrip('.')}." if trouble.said else "."
    if trouble.status in (408, 504) or trouble.type == "timeout_error":
        return "Claude did not answer in time.", f"Try again later. {KEPT}"
    if trouble.status == 529 or trouble.type == "overloaded_error":
        return (
            "Claude is overloaded, even after several tries.",
            f"Try again in a few minutes. {KEPT}",
        )
    if trouble.status == 429 or trouble.type == "rate_limit_error":
        return (
            "Claude accepts no more requests for now (rate limit).",
            f"Try again in a few minutes. {KEPT}",
        )
    if trouble.status >= 500 or trouble.type == "api_error":
        return f"Claude's server failed (status {trouble.status}).", f"Try again later. {KEPT}"
    if trouble.status == 413 or "too long" in trouble.said.lower():
        return "What would be sent to Claude is too large.", f"{FEWER} {KEPT}"
    known = {
        401: ("Claude did not accept the API key.", f"{HOW_TO} {KEPT}"),
        402: (f"Claude asks for a payment{said}", f"See the billing page of your account. {KEPT}"),
        403: (
            f"The API key may not use the model {settings.model}{said}",
            f"Set another claude.model in the config. {KEPT}",
        ),
        404: (
            f"Claude has no model “{settings.model}”.",
            f"Set claude.model in the config. {KEPT}",
        ),
    }
    other = (
        f"Claude did not accept the request{said}",
        f"Check claude.model and claude.temperature. {KEPT}",
    )
    return known.get(trouble.status, other)


# What a call of the Messages API brings, as values that cross threads.


class Budget(NamedTuple):
    """`limit` tokens a calendar month, sent and received (0: no limit), of which `spent` are gone."""

    limit: int = 0
    spent: int = 0

    def require(self, tokens: int, what: str) -> None:
        """Raise `ReflectionProblem` when `what`, which needs about `tokens`, would pass the limit."""
        if 0 < self.limit < self.spent + tokens:
            raise ReflectionProblem(
                f"{what} needs about {tokens:,} tokens, and {self.spent:,} of this month's {self.limit:,} are used.",
                "Nothing was sent. Raise claude.monthly_tokens in the config (0: no limit), or wait for next month.",
            )


@dataclass(frozen=True, slots=True)
class Reach:
    """How to reach Claude. Without a key the SDK looks for one; times are in seconds."""

    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout: float = 120.0
    connect_timeout: float = 10.0
    retries: int = 3


class Answer(NamedTuple):
    """What a call brought: all text that came in, the tokens, why it stopped or what went wrong."""

    text: str
    usage: Usage
    reason: str = ""
    trouble: Trouble | None = None


# One call of the Messages API on a thread of its own, so that a person can leave it at any moment.
#
# The thread loads the SDK, retries as the SDK does, and puts what comes in into a queue. When it
# was left it sends nothing any more and closes the stream at the next event.


class Call(threading.Thread):
    """A running call. `texts` are the pieces of the reply as they come in, and `None` when it has
    ended.

    `request` holds the arguments of `messages.create`. `sent` and `came` are tokens as the API
    counts them, `None` and 0 before it does; `accepted` says that it took the request, for the
    headers of an answer that is no error came in.
    """

    def __init__(self, reach: Reach, request: Mapping[str, object], *, stream: bool) -> None:
        super().__init__(name="claude", daemon=True)
        self.texts: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.sent: int | None = None
        self.came = 0
        self.accepted = False
        self.reason = ""
        self.trouble: Trouble | None = Trouble("broken")
        self._reach = reach
        self._request = request
        self._stream = stream
        self._left = threading.Event()

    def leave(self) -> None:
        """Want nothing more of this call."""
        self._left.set()

    def run(self) -> None:
        try:
            self.trouble = self._talk()
        finally:  # whatever happens, nobody waits forever
            self.texts.put(None)

    def _talk(self) -> Trouble | None:
        import anthropic
        import httpx2

        secrets: tuple[str, ...] = ()
        try:
            with self._client() as client:
                secrets = tuple(s for s in (client.api_key, client.auth_token) if s)
                if not secrets and client.credentials is None:
                    return Trouble("no key")
                return self._streamed(client) if self._stream else self._whole(client)
        except anthropic.APIStatusError as error:
            return _status_trouble(error, secrets)
        except (anthropic.APITimeoutError, httpx2.TimeoutException):
            return Trouble("timeout")
        except (anthropic.APIConnectionError, httpx2.InvalidURL, OSError):
            return Trouble("connection")
        except anthropic.APIError:
            return Trouble("malformed")
        except anthropic.AnthropicError:
            return Trouble("credentials")
        except (httpx2.HTTPError, httpx2.StreamError):
            return Trouble("dropped")
        except (
            ValueError,
            TypeError,
            AttributeError,
            LookupError,
        ):  # the SDK met something that is no event
            return Trouble("malformed")

    def _client(self) -> "anthropic.Anthropic":
        import anthropic

        timeout = anthropic.Timeout(self._reach.timeout, connect=self._reach.connect_timeout)
        return anthropic.Anthropic(
            api_key=self._reach.api_key,
            base_url=self._reach.base_url,
            max_retries=self._reach.retries,
            timeout=timeout,
            # Without this, a retry that was waiting would still be sent after everybody has left.
            http_client=anthropic.DefaultHttpxClient(
                event_hooks={"request": [self._stop_if_left], "response": [self._note_if_accepted]}
            ),
        )

    def _note_if_accepted(self, response: "httpx2.Response") -> None:
        self.accepted = self.accepted or response.is_success

    def _stop_if_left(self, _request: object) -> None:
        if self._left.is_set():
            import httpx2

            raise httpx2.HTTPError("left")

    def _streamed(self, client: "anthropic.Anthropic") -> Trouble | None:
        began = False
        stream = client.messages.create(**self._request, stream=True)  # type: ignore[call-overload]
        with stream:
            for event in stream:
                if self._left.is_set():
                    return None
                kind = getattr(event, "type", None)
                if (
                    kind == "content_block_delta"
                    and getattr(event.delta, "type", None) == "text_delta"
                ):
                    self.texts.put(str(event.delta.text))
                elif kind == "message_start":
                    began = True
                    self._count(event.message.usage)
                elif kind == "message_delta":
                    self._count(event.usage)
                    self.reason = event.delta.stop_reason or ""
                elif kind == "message_stop":
                    return None
        return Trouble("dropped" if began else "malformed")

    def _whole(self, client: "anthropic.Anthropic") -> Trouble | None:
        message = client.messages.create(**self._request)  # type: ignore[call-overload]
        if not isinstance(getattr(message, "content", None), list):
            return Trouble("malformed")
        self._count(message.usage)
        self.texts.put(
            "".join(str(b.text) for b in message.content if getattr(b, "type", None) == "text")
        )
        self.reason = message.stop_reason or ""
        return None

    def _count(self, usage: object) -> None:
        """Take over the tokens of the API's usage; what it took from or put into its cache was sent
        too.
        """
        names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        sent = [value for name in names if isinstance(value := getattr(usage, name, None), int)]
        came = getattr(usage, "output_tokens", None)
        if sent:
            self.sent = max(sum(sent), self.sent or 0)
        if isinstance(came, int):
            self.came = max(came, self.came)


def _status_trouble(error: "anthropic.APIStatusError", secrets: tuple[str, ...]) -> Trouble:
    """Read an error of the API; its own words are kept without anything secret."""
    body = as_object(as_object(error.body).get("error"))
    said, kind = body.get("message"), body.get("type")
    text = scrubbed(said, secrets) if isinstance(said, str) else ""
    return Trouble("status", error.status_code, kind if isinstance(kind, str) else "", text)


POLL_SECONDS = 0.05
"""How often a waiting call asks whether it was cancelled."""


def read(call: Call, sent: int, hear: Callable[[str], None], cancelled: Cancelled) -> Answer:
    """Start `call` and collect its answer, telling `hear` of each piece of text, until it ends or
    is cancelled.

    `sent` is an estimate of the tokens sent, which counts when the API took them and does not say
    how many. What never reached the API, and what it refused, costs nothing. A reply that did not
    end is counted by its text.
    """
    parts: list[str] = []
    call.start()
    trouble: Trouble | None = Trouble("cancelled")
    while not cancelled():
        try:
            text = call.texts.get(timeout=POLL_SECONDS)
        except queue.Empty:
            continue
        if text is None:
            trouble = call.trouble
            break
        parts.append(text)
        hear(text)
    else:
        call.leave()
        with suppress(queue.Empty):
            while (text := call.texts.get_nowait()) is not None:
                parts.append(text)
    reply = "".join(parts)
    was_left = call.accepted and trouble is not None and trouble.kind == "cancelled"
    went = (sent if reply or was_left else 0) if call.sent is None else call.sent
    came = call.came if trouble is None else max(call.came, tokens_of(reply))
    return Answer(reply, Usage(went, came), call.reason if trouble is None else "", trouble)


NAME = "claude"


class Asker:
    """Makes calls one after the other; `used` adds up the tokens of all of them."""

    def __init__(self, settings: LlmSettings, budget: Budget, reach: Reach) -> None:
        self.settings = settings
        self.reach = reach
        self.used = Usage()
        self._budget = budget

    def cost(self, prompt: Prompt) -> Usage:
        """Estimate the tokens of one call."""
        return Usage(prompt.tokens, min(prompt.reply_tokens, self.settings.max_tokens))

    def require(self, tokens: int, what: str) -> None:
        """Raise `ReflectionProblem` when the month's budget does not hold `tokens` more."""
        Budget(self._budget.limit, self._budget.spent + self.used.total).require(tokens, what)

    def ask(
        self,
        prompt: Prompt,
        tell: Tell,
        cancelled: Cancelled,
        *,
        done: int = 0,
        total: int = 0,
        stream: bool = True,
    ) -> Answer:
        """Send one prompt and return what came, whether it ended well or not; `done` of `total`
        calls were made.

        Raises `ReflectionProblem` only when there is no key, or the budget does not hold the call.
        """
        if self.reach.api_key is None and not has_key():
            raise ReflectionProblem("No API key for Claude.", HOW_TO)
        cost = self.cost(prompt)
        self.require(cost.total, "The next call")
        tell(Step(prompt.stage, done, total))

        def hear(text: str) -> None:
            tell(Step(prompt.stage, done, total, text))

        call = Call(self.reach, self._arguments(prompt), stream=stream)
        answer = read(call, cost.input, hear, cancelled)
        self.used += answer.usage
        return answer

    def sentences(self, trouble: Trouble) -> tuple[str, str]:
        return sentences(trouble, self.settings, self.reach.base_url)

    def whole_text(
        self, prompt: Prompt, tell: Tell, cancelled: Cancelled, *, stream: bool = True
    ) -> str:
        """Send one prompt and return the whole reply.

        Raises `ReflectionProblem` when it is not whole; what came is then in its `found.unread`.
        """
        before = self.used
        answer = self.ask(prompt, tell, cancelled, stream=stream)
        trouble = trouble_of(answer)
        if trouble is None:
            return answer.text
        message, hint = self.sentences(trouble)
        unread = (UnreadReply(prompt.stage, answer.text, message),) if answer.text.strip() else ()
        found = Reflection(
            NAME, (), usage=minus(self.used, before), unread=unread, complete=False, stopped=message
        )
        raise ReflectionProblem(message, hint, found)

    def _arguments(self, prompt: Prompt) -> Mapping[str, object]:
        arguments: dict[str, object] = {
            "model": self.settings.model,
            "max_tokens": self.settings.max_tokens,
            "system": prompt.system,
            "messages": [{"role": "user", "content": prompt.user}],
        }
        if self.settings.temperature is not None:
            arguments["extra_body"] = {"temperature": self.settings.temperature}
        return arguments


def trouble_of(answer: Answer) -> Trouble | None:
    """Return what is wrong with an answer, if anything: it failed, was declined, cut off, or is
    empty.
    """
    reasons: dict[str, Kind] = {
        "refusal": "refusal",
        "max_tokens": "cut",
        "model_context_window_exceeded": "cut",
    }
    if answer.trouble is not None:
        return answer.trouble
    if answer.reason in reasons:
        return Trouble(reasons[answer.reason])
    return None if answer.text.strip() else Trouble("empty")


def minus(after: Usage, before: Usage) -> Usage:
    """Return the tokens between two readings."""
    return Usage(after.input - before.input, after.output - before.output)
