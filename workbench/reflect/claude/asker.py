"""Asking Claude one prompt at a time, within the budget."""

import queue
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from workbench.core.reflection.llm import LlmSettings
from workbench.core.reflection.reflector import Cancelled, Reflection, ReflectionProblem, Step, Tell, Unread, Usage
from workbench.core.tokens import tokens_of
from workbench.reflect.claude.budget import Budget, require
from workbench.reflect.claude.call import Call
from workbench.reflect.claude.events import Accepted, Answer, Counted, Delta, Ended, Event, Reach
from workbench.reflect.claude.prompting import Prompt
from workbench.reflect.claude.trouble import Kind, Trouble, sentences

POLL_SECONDS = 0.05
"""How often a waiting call asks whether it was cancelled."""


def read(call: Call, sent: int, hear: Callable[[str], None], cancelled: Cancelled) -> Answer:
    """Start `call` and collect its answer, telling `hear` of each delta, until it ends or is cancelled.

    `sent` is an estimate of the tokens sent, which counts when the API took them and does not say how many. What
    never reached the API, and what it refused, costs nothing.
    """
    heard: list[Event] = []
    call.start()
    while not cancelled():
        try:
            event = call.events.get(timeout=POLL_SECONDS)
        except queue.Empty:
            continue
        if isinstance(event, Ended):
            return _answer(heard, sent, event)
        heard.append(event)
        if isinstance(event, Delta):
            hear(event.text)
    call.leave()
    with suppress(queue.Empty):
        while not isinstance(event := call.events.get_nowait(), Ended):
            heard.append(event)
    return _answer(heard, sent, Ended(trouble=Trouble("cancelled")))


def _answer(heard: Sequence[Event], sent: int, ended: Ended) -> Answer:
    """Add up what the API counted; a reply that did not end is counted by its text."""
    text = "".join(event.text for event in heard if isinstance(event, Delta))
    counts = [event for event in heard if isinstance(event, Counted)]
    came = max((c.output for c in counts if c.output is not None), default=0)
    went = max((c.input for c in counts if c.input is not None), default=None)
    if ended.trouble is not None:
        came = max(came, tokens_of(text))
    if went is None:
        taken = any(isinstance(event, Accepted) for event in heard)
        went = sent if text or (taken and ended.trouble is not None and ended.trouble.kind == "cancelled") else 0
    return Answer(text, Usage(went, came), ended.reason, ended.trouble)


NAME = "claude"


@dataclass(frozen=True, slots=True)
class Place:
    """How many calls are done, and how many there are (0 when nobody knows)."""

    done: int = 0
    total: int = 0


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
        require(self._budget.after(self.used.total), tokens, what)

    def ask(
        self, prompt: Prompt, tell: Tell, cancelled: Cancelled, place: Place = Place(), *, stream: bool = True
    ) -> Answer:
        """Send one prompt and return what came, whether it ended well or not.

        Raises `ReflectionProblem` only when the budget does not hold the call.
        """
        cost = self.cost(prompt)
        self.require(cost.total, "The next call")
        tell(Step(prompt.stage, place.done, place.total))

        def hear(text: str) -> None:
            tell(Step(prompt.stage, place.done, place.total, text))

        call = Call(self.reach, self._arguments(prompt), stream=stream)
        answer = read(call, cost.input, hear, cancelled)
        self.used += answer.usage
        return answer

    def sentences(self, trouble: Trouble) -> tuple[str, str]:
        """Return what happened, and what to do."""
        return sentences(trouble, self.settings, self.reach.base_url)

    def whole_text(self, prompt: Prompt, tell: Tell, cancelled: Cancelled, *, stream: bool = True) -> str:
        """Send one prompt and return the whole reply.

        Raises `ReflectionProblem` when it is not whole; what came is then in its `found.unread`.
        """
        before = self.used
        answer = self.ask(prompt, tell, cancelled, stream=stream)
        trouble = trouble_of(answer)
        if trouble is None:
            return answer.text
        message, hint = self.sentences(trouble)
        unread = (Unread(prompt.stage, answer.text, message),) if answer.text.strip() else ()
        found = Reflection(NAME, (), usage=minus(self.used, before), unread=unread, complete=False, stopped=message)
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
    """Return what is wrong with an answer, if anything: it failed, was declined, cut off, or is empty."""
    reasons: dict[str, Kind] = {"refusal": "refusal", "max_tokens": "cut", "model_context_window_exceeded": "cut"}
    if answer.trouble is not None:
        return answer.trouble
    if answer.reason in reasons:
        return Trouble(reasons[answer.reason])
    return None if answer.text.strip() else Trouble("empty")


def minus(after: Usage, before: Usage) -> Usage:
    """Return the tokens between two readings."""
    return Usage(after.input - before.input, after.output - before.output)
