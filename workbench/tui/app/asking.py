"""Actions that open a dialog and wait for its answer, so that keys typed ahead reach the dialog."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, TypeVar

from textual.dom import DOMNode

Node = TypeVar("Node", bound=DOMNode)

_TURNS = 3
"""Turns of the event loop in which a worker comes as far as opening its dialog."""


def asking(action: Callable[[Node], Coroutine[Any, Any, None]]) -> Callable[[Node], Awaitable[None]]:
    """Run an action as a worker (which may wait for a dialog) and let it open the dialog before the next key."""

    @wraps(action)
    async def asked(node: Node) -> None:
        await started(node, action(node))

    return asked


async def started(node: DOMNode, action: Coroutine[Any, Any, None]) -> None:
    """Run something that may wait for a dialog as a worker, and come back when the dialog can be open."""
    node.run_worker(action)
    for _ in range(_TURNS):
        await asyncio.sleep(0)
