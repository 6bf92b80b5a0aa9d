"""Waiting for a call, ready to leave it."""

import queue
from collections.abc import Callable, Sequence
from contextlib import suppress

from workbench.core.reflection.reflector import Cancelled, Usage
from workbench.core.tokens import estimated_tokens
from workbench.reflect.claude.call import Call
from workbench.reflect.claude.events import Accepted, Answer, Counted, Delta, Ended, Event
from workbench.reflect.claude.trouble import Trouble

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
        came = max(came, estimated_tokens(len(text)))
    if went is None:
        taken = any(isinstance(event, Accepted) for event in heard)
        went = sent if text or (taken and ended.trouble is not None and ended.trouble.kind == "cancelled") else 0
    return Answer(text, Usage(went, came), ended.reason, ended.trouble)
