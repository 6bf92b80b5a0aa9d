"""The playbook's tools: duplicates, budget, what an agent sees, suggestions, and rules that are let go of."""

import time
from pathlib import Path

from textual.content import Content

from workbench.bench.playbook.rules import warning_of
from workbench.core.errors import WorkbenchError
from workbench.core.playbook.book import Bullet
from workbench.core.playbook.split import merged_from
from workbench.core.text import one_line
from workbench.tui.app.asking import asking
from workbench.tui.app.saving import Preview
from workbench.tui.playbook.browser import EMPTY_STORE
from workbench.tui.playbook.targets import PlaybookTargets, named
from workbench.tui.widgets.confirm import Confirm
from workbench.tui.widgets.content import MUTED, body
from workbench.tui.widgets.texts.editor import TextEditor

PASTE = "Paste the reply of a Curator or a Reflector; ctrl+s reads it"


class PlaybookTools(PlaybookTargets):
    """The playbook with what needs a view of its own."""

    # Rules that are let go of

    @asking
    async def action_deprecate(self) -> None:
        """Deprecate bullets, with a reason and a replacement; again makes them count."""
        ids, book = self.targets(), self.book
        if not ids or self.view is None:
            return
        if self.bench.rules.all_deprecated(book, ids):

            def restore() -> None:
                self.bench.rules.restore(book, ids)
                self.done(f"{named(ids)} count{'s' if len(ids) == 1 else ''} again.", ids)

            self.workbench_app.change(restore)
            return
        from workbench.tui.playbook.deprecate import DeprecateDialog, Deprecation

        others = [b for b in self.view.playbook.bullets if b.state != "deprecated" and b.id not in ids]
        masked = {b.id: self.bench.safety.masked(b.content) for b in others}
        preview = Preview(self.bench, again="enter", line=True)

        def deprecate(asked: Deprecation) -> None:
            with preview.writing(f"deprecate {named(ids)}"):
                self.bench.rules.deprecate(book, ids, asked.reason, asked.replacement)

        dialog = DeprecateDialog(f"Deprecate {named(ids)}", others, masked, preview, deprecate)
        if await self.app.push_screen_wait(dialog):
            self.done(f"Deprecated {named(ids)}: left out of exports. D or u brings back.", ids)

    @asking
    async def action_avoid(self) -> None:
        """Deprecate harmful rules and warn of them in their own words; those of a single one can be edited first."""
        ids, book = self.targets(), self.book
        if len(ids) == 1 and (bullet := self.bullet_called(ids[0])) is not None:
            await self._avoid(bullet)
        elif ids:
            told = "Each is deprecated, and a warning that begins with “AVOID:” stands for it. u takes all back.\n\n"
            detail = Content.styled(told, MUTED) + body(", ".join(ids)[:400])
            ask = Confirm(
                f"Turn {named(ids)} into warnings?", clock=time.monotonic, detail=detail, yes="warn", no="keep"
            )
            if await self.app.push_screen_wait(ask):

                def avoid() -> None:
                    made = self.bench.rules.avoid_all(book, ids)
                    self.done(f"{len(made)} warnings stand for {named(ids)}. u takes them back.", ids)

                self.workbench_app.change(avoid)

    async def _avoid(self, bullet: Bullet) -> None:
        made: list[str] = []
        preview = Preview(self.bench, bullet.content)

        def save(text: str) -> str | None:
            if (first := preview(text)) is not None:
                return first
            with preview.writing(f"warn of {bullet.id}", lambda: [f"{bullet.book}/{made[-1]}"]):
                made.append(self.bench.rules.avoid(bullet.book, bullet.id, preview.text))
            return None

        place = one_line(self.bench.rules.warns_in(bullet.book), 60)
        title = f"Turn {bullet.id} into a warning under {place}; the rule itself is deprecated"
        await self.app.push_screen_wait(TextEditor(title, warning_of(bullet.content), check=save))
        if made:
            self.done(f"{made[0]} warns of {bullet.id}, which is deprecated. u takes both back.")

    def action_split(self) -> None:
        """Take the latest merge of a bullet apart."""
        bullet = self.bullet_here()
        if bullet is None:
            return
        if not merged_from(bullet):
            self.workbench_app.say(f"{bullet.id} was not made by a merge, so there is nothing to take apart.")
            return

        def part() -> None:
            parts = self.bench.refiner.part(bullet.book, bullet.id)
            self.done(f"{', '.join(parts)} are there again. u takes that back.")

        self.workbench_app.change(part)

    # Views of their own

    @asking
    async def action_duplicates(self) -> None:
        """Find bullets that say the same; merge them or keep them apart."""
        if self.view is None:
            self.workbench_app.say(EMPTY_STORE)
            return
        from workbench.tui.duplicates.bullets import TwinsDialog

        await self.app.push_screen_wait(TwinsDialog(self.bench, self.book))

    @asking
    async def action_budget(self) -> None:
        """Set how many tokens the playbook may take, and see what fits."""
        if self.view is None:
            self.workbench_app.say(EMPTY_STORE)
            return
        from workbench.tui.playbook.budget import BudgetDialog

        said = await self.app.push_screen_wait(BudgetDialog(self.bench, self.book))
        if said:
            self.done(said)

    def action_agent_view(self) -> None:
        """Show the text that an agent would be given."""
        if self.view is None:
            self.workbench_app.say(EMPTY_STORE)
            return
        from workbench.tui.playbook.agent import AgentDialog

        self.app.push_screen(AgentDialog(self.bench, self.book, self.copy))

    @asking
    async def action_suggestions(self) -> None:
        """Read what a Curator or a Reflector answered, from a file or pasted, or ask Claude; decide card by card."""
        if self.view is None:
            self.workbench_app.say(EMPTY_STORE)
            return
        from workbench.tui.playbook.curation.sources import SourcePrompt

        book = self.book
        prompt = SourcePrompt(can_ask=not self.bench.curation.missing, check=_readable)
        name = await self.app.push_screen_wait(prompt)
        if prompt.wants_claude:
            await self._ask_claude(book)
        if name is None:
            return
        text = _text_of(name) if name else await self.app.push_screen_wait(TextEditor(PASTE, "", limit=1_000_000))
        if text is None:
            return
        with self.workbench_app.reporting():
            reply = self.bench.curating.read(text)
            from workbench.tui.playbook.curation.cards import CardsDialog

            said = await self.app.push_screen_wait(CardsDialog(self.bench, book, reply))
            if said:
                self.done(said)

    async def _ask_claude(self, book: str) -> None:
        """Let Claude suggest, by what was confirmed lately or is marked in the Stream."""
        from workbench.tui.playbook.curation.ask import AskDialog

        marked = self.workbench_app.marked("stream")
        said = await self.app.push_screen_wait(AskDialog(self.bench, book, marked))
        if said:
            self.done(said)


def _text_of(name: str) -> str:
    from workbench.formats.registry import read_text

    return read_text(Path(name).expanduser())


def _readable(name: str) -> str | None:
    """Say why a file cannot be read; an empty name stands for pasting."""
    try:
        if name:
            _text_of(name)
    except (WorkbenchError, RuntimeError) as error:
        return str(error)
    return None
