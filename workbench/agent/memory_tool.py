"""The memory tool of the Anthropic API over a store: what a model files away stands where a person
looks.

    tool = StoreMemoryTool.open(agent="claude")
    client.beta.messages.tool_runner(model=…, max_tokens=…, messages=[…], tools=[tool]).until_done()

Importing this imports the SDK.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from anthropic.lib.tools import ToolError
from anthropic.tools.memory import BetaAbstractMemoryTool
from anthropic.types.beta import (
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from workbench.agent.memory import open_for
from workbench.core.record import WorkbenchError
from workbench.services.agents.documents.stored import MemoryCommands
from workbench.services.open import Workbench


class StoreMemoryTool(BetaAbstractMemoryTool):
    """Keeps the files of `/memories` as documents of an open store, one transaction a command, as
    `agent:NAME`.
    """

    def __init__(self, bench: Workbench, agent: str = "claude", session: str = "") -> None:
        super().__init__()
        self.bench = bench
        self._commands = MemoryCommands(
            replace(bench.context, actor=f"agent:{agent}"), bench.safety, session
        )

    @classmethod
    def open(
        cls, store: Path | None = None, agent: str = "claude", session: str = ""
    ) -> "StoreMemoryTool":
        """Open a store, else that of the working directory, as the app finds it. Raises
        `StoreProblem`.
        """
        return cls(open_for(agent, store), agent, session)

    def close(self) -> None:
        """Let go of the store."""
        self.bench.close()

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Show a document with line numbers, or what is in a folder."""
        given = command.view_range
        lines = (given[0], given[1]) if given and len(given) == _PAIR else None
        return _told(lambda: self._commands.view(command.path, lines))

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Keep a new document."""
        return _told(lambda: self._commands.create(command.path, command.file_text))

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that stands in a document once."""
        return _told(
            lambda: self._commands.str_replace(command.path, command.old_str, command.new_str)
        )

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Put a text behind a line of a document."""
        return _told(
            lambda: self._commands.insert(command.path, command.insert_line, command.insert_text)
        )

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Remove a document or a folder."""
        return _told(lambda: self._commands.delete(command.path))

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a document or a folder."""
        return _told(lambda: self._commands.rename(command.old_path, command.new_path))


_PAIR = 2


def _told(command: Callable[[], str]) -> str:
    """Carry out a command; what cannot be done reaches the model as a sentence."""
    try:
        return command()
    except WorkbenchError as error:
        raise ToolError(str(error)) from error
