"""Waiting for a call, ready to leave it."""

import queue
from collections.abc import Callable, Sequence

from workbench.core.tokens import estimated_tokens
from workbench.reflect.call import Call
from workbench.reflect.events import Answer, Counted, Delta, Ended
from workbench.reflect.model import Cancelled, Usage
from workbench.reflect.trouble import Trouble

POLL_SECONDS = 0.05
"""How often a waiting call asks whether it was cancelled."""


def read(call: Call, sent: int, hear: Callable[[str], None], cancelled: Cancelled) -> Answer:
    """Start `call` and collect its answer, telling `hear` of each delta, until it ends or is cancelled.

    `sent` is an estimate of the tokens sent, which counts when the API does not say.
    """
    texts: list[str] = []
    counts: list[Counted] = []
    call.start()
    while not cancelled():
        try:
            event = call.events.get(timeout=POLL_SECONDS)
        except queue.Empty:
            continue
        if isinstance(event, Delta):
            texts.append(event.text)
            hear(event.text)
        elif isinstance(event, Counted):
            counts.append(event)
        else:
            return _answer("".join(texts), counts, sent, event)
    call.leave()
    return _answer("".join(texts), counts, sent, Ended(trouble=Trouble("cancelled")))


def _answer(text: str, counts: Sequence[Counted], sent: int, ended: Ended) -> Answer:
    """Add up what the API counted; a reply that did not end is counted by its text."""
    came = max((c.output for c in counts if c.output is not None), default=0)
    went = max((c.input for c in counts if c.input is not None), default=None)
    if ended.trouble is not None:
        came = max(came, estimated_tokens(len(text)))
    if went is None:
        went = sent if text or (ended.trouble is not None and ended.trouble.kind == "cancelled") else 0
    return Answer(text, Usage(went, came), ended.reason, ended.trouble)
