"""Flagged memories: one that is folded away is opened, and one may be let out as it is."""

from dataclasses import replace

from workbench.core.stream.memory import Memory
from workbench.services.safety.masking import masked_name
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.saving import Preview
from workbench.tui.safety.flag_view import Flags, flags_of, missing
from workbench.tui.stream.actions import STREAM
from workbench.tui.widgets.keys import undo


class FlaggedMemories:
    """Knows what is flagged in a memory, which one was unfolded last, and asks why one may be exported."""

    def __init__(self, area: AreaScreen) -> None:
        self._app, self._safety = area.workbench_app, area.bench.safety
        self._bench = area.bench
        self._keys = {action.id: action.shown_key for action in area.as_mapped(STREAM)}
        self._unfolded = ("", "")

    def flags_of(self, memory: Memory) -> Flags:
        """Return what is flagged in a memory, and whether its text is folded away."""
        flags = flags_of(self._safety, memory)
        if not flags.words:
            return flags
        folded = self._unfolded != (memory.id, memory.content)
        return replace(flags, folded=folded, opens=self._keys["stream.unfold"], allows=self._keys["stream.allow"])

    def masked_line(self, memory: Memory) -> str | None:
        """Return the line of a flagged memory without its secrets, `None` for one that is not flagged."""
        return self._safety.masked(memory.line) if self._safety.flags(memory) else None

    def unfold(self, memory: Memory) -> bool:
        """Show the text of a flagged memory, until another one was opened; tell whether it is one."""
        flagged = bool(self._safety.flags(memory))
        if flagged:
            self._unfolded = (memory.id, memory.content)
        return flagged

    async def allow(self, memory: Memory) -> None:
        """Let a flagged memory be exported and promoted as it is, after asking why; again takes that back."""
        if not self._safety.flags(memory):
            self._app.say(f"{memory.id} is not flagged; it may be exported as it is.")
        elif self._safety.override(memory) is not None:

            def withdraw() -> None:
                self._safety.withdraw(memory.id)
                self._app.say(f"{memory.id} is held back again. {undo()} takes that back.")

            self._app.change(withdraw)
        else:
            await self._ask_why(memory)

    async def _ask_why(self, memory: Memory) -> None:
        from workbench.tui.widgets.texts.prompt import Prompt

        title = f"Why may {masked_name(memory.id, self._safety.masked)} be exported as it is?"
        preview = Preview(self._bench, again="enter", line=True)

        def allow(_: str) -> None:
            with preview.writing(f"allow {memory.id}"):
                self._safety.allow(memory.id, preview.text)

        ask = Prompt(title, placeholder="a reason", check=missing, take=allow, preview=preview)
        if await self._app.push_screen_wait(ask):
            self._app.say(f"{memory.id} may be exported as it is. {undo()} takes that back.")
