"""The keys for flagged memories: open one that is folded away, let one be exported as it is."""

from dataclasses import replace

from workbench.bench.safety.masking import masked_name
from workbench.core.stream.memory import Memory
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.areas import STREAM
from workbench.tui.app.asking import asking
from workbench.tui.app.saving import Preview
from workbench.tui.safety.flag_view import Flags, flags_of, missing


class FlagKeys(AreaScreen):
    """A screen with a memory under the cursor, whose text is folded away while it is flagged."""

    def __init__(self) -> None:
        super().__init__()
        self._unfolded = ("", "")

    @property
    def shown_memory(self) -> Memory | None:
        """The memory whose detail is shown."""
        raise NotImplementedError

    def show_detail(self) -> None:
        """Draw the detail again."""
        raise NotImplementedError

    def flags_of(self, memory: Memory) -> Flags:
        """Return what is flagged in a memory, and whether its text is folded away."""
        flags = flags_of(self.bench.safety, memory)
        if not flags.words:
            return flags
        keys = {action.id: action.shown_key for action in self.as_mapped(STREAM)}
        folded = self._unfolded != (memory.id, memory.content)
        return replace(flags, folded=folded, opens=keys["stream.unfold"], allows=keys["stream.allow"])

    def masked_line(self, memory: Memory) -> str | None:
        """Return the line of a flagged memory without its secrets, `None` for one that is not flagged."""
        safety = self.bench.safety
        return safety.masked(memory.line) if safety.flags(memory) else None

    def action_unfold(self) -> None:
        """Show the text of a flagged memory, until another one was opened."""
        memory = self.shown_memory
        if memory is not None and self.bench.safety.flags(memory):
            self._unfolded = (memory.id, memory.content)
            self.show_detail()

    @asking
    async def action_allow(self) -> None:
        """Let a flagged memory be exported and promoted as it is, after asking why; again takes that back."""
        memory, safety = self.shown_memory, self.bench.safety
        if memory is None:
            return
        if not safety.flags(memory):
            self.workbench_app.say(f"{memory.id} is not flagged; it may be exported as it is.")
        elif safety.override(memory) is not None:

            def withdraw() -> None:
                safety.withdraw(memory.id)
                self.workbench_app.say(f"{memory.id} is held back again. u takes that back.")

            self.workbench_app.change(withdraw)
        else:
            await self._allow(memory)

    async def _allow(self, memory: Memory) -> None:
        from workbench.tui.widgets.texts.prompt import Prompt

        title = f"Why may {masked_name(memory.id, self.bench.safety.masked)} be exported as it is?"
        preview = Preview(self.bench, again="enter", line=True)

        def allow(_: str) -> None:
            with preview.writing(f"allow {memory.id}"):
                self.bench.safety.allow(memory.id, preview.text)

        ask = Prompt(title, placeholder="a reason", check=missing, take=allow, preview=preview)
        if await self.app.push_screen_wait(ask):
            self.workbench_app.say(f"{memory.id} may be exported as it is. u takes that back.")
