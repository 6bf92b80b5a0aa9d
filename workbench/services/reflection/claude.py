"""The way to Claude for everything that asks it: whether there is a key, the month's budget, what a call cost."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.reflect.claude.keys import HOW_TO, has_key
from workbench.services.context import Context
from workbench.services.reflection.llm_runs import LlmRuns

if TYPE_CHECKING:
    from workbench.reflect.claude.budget import Budget
    from workbench.reflect.claude.reflector import ClaudeReflector

CLAUDE = "claude"
"""What the runs of Claude are called."""

Connect = Callable[["Budget"], "ClaudeReflector"]
"""Makes the reflector that asks Claude, within a budget."""


class Claude:
    """Opens a connection when something is asked; `connect` makes it, by default with the settings of the store."""

    def __init__(self, context: Context, connect: Connect | None = None) -> None:
        self._connect = connect
        self._context = context
        self.runs = LlmRuns(context)

    @property
    def missing(self) -> str:
        """Why Claude cannot be asked now, or an empty text."""
        if self._connect is not None or has_key():
            return ""
        return f"There is no API key for Claude. {HOW_TO}"

    def open(self) -> "ClaudeReflector":
        """Return a reflector that keeps within what is left of the month's budget."""
        return (self._connect or connecting(self._context))(self.runs.budget())


def connecting(context: Context) -> Connect:
    """Return what connects to Claude with the settings of a store; importing the SDK is left to the first call."""

    def connect(budget: "Budget") -> "ClaudeReflector":
        from workbench.reflect.claude.reflector import ClaudeReflector

        # The SDK would find the address as well, but what is shown before has to name it.
        return ClaudeReflector(context.settings.claude, budget, os.environ.get("ANTHROPIC_BASE_URL") or None)

    return connect
