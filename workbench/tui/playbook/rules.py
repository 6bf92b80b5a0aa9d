"""Rules of a playbook that are let go of: deprecated, turned into warnings, or a merge of them taken apart."""

import time

from textual.content import Content

from workbench.core.playbook.book import Bullet
from workbench.core.playbook.split import merged_from
from workbench.core.text import one_line
from workbench.services.playbook.rules import warning_of
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.saving import Preview
from workbench.tui.playbook.browser import BookBrowser
from workbench.tui.playbook.targets import Targets, named
from workbench.tui.widgets.confirm import Confirm
from workbench.tui.widgets.content import MUTED, body
from workbench.tui.widgets.keys import keyed, undo
from workbench.tui.widgets.texts.editor import TextEditor


class Rules:
    """Asks why and what takes their place, and lets go of the rules that are picked."""

    def __init__(self, area: AreaScreen, browser: BookBrowser, targets: Targets) -> None:
        self._area, self._app, self._bench = area, area.workbench_app, area.bench
        self._browser = browser
        self._targets = targets

    async def deprecate(self) -> None:
        """Deprecate bullets, with a reason and a replacement; again makes them count."""
        ids, book = self._targets.ids(), self._browser.book
        if not ids or self._browser.view is None:
            return
        if self._bench.rules.all_deprecated(book, ids):

            def restore() -> None:
                self._bench.rules.restore(book, ids)
                self._targets.done(f"{named(ids)} count{'s' if len(ids) == 1 else ''} again.", ids)

            self._app.change(restore)
            return
        from workbench.tui.playbook.deprecate import DeprecateDialog, Deprecation

        others = [b for b in self._browser.view.playbook.bullets if b.state != "deprecated" and b.id not in ids]
        masked = {b.id: self._bench.safety.masked(b.content) for b in others}
        preview = Preview(self._bench, again="enter", line=True)

        def deprecate(asked: Deprecation) -> None:
            with preview.writing(f"deprecate {named(ids)}"):
                self._bench.rules.deprecate(book, ids, asked.reason, asked.replacement)

        dialog = DeprecateDialog(f"Deprecate {named(ids)}", others, masked, preview, deprecate)
        if (done := await self._app.push_screen_wait(dialog)) is not None:
            instead = f", replaced by “{one_line(masked[done.replacement], 60)}”" if done.replacement else ""
            back = keyed("{playbook.deprecate} or {app.undo} brings back.")
            self._targets.done(f"Deprecated {named(ids)}{instead}: left out of exports. {back}", ids)

    async def avoid(self) -> None:
        """Deprecate harmful rules and warn of them in their own words; those of a single one can be edited first."""
        ids, book = self._targets.ids(), self._browser.book
        if len(ids) == 1 and (bullet := self._called(ids[0])) is not None:
            await self._avoid(bullet)
        elif ids:
            told = "Each is deprecated, and a warning that begins with “AVOID:” stands for it."
            told += f" {undo()} takes all back.\n\n"
            detail = Content.styled(told, MUTED) + body(", ".join(ids)[:400])
            ask = Confirm(
                f"Turn {named(ids)} into warnings?", clock=time.monotonic, detail=detail, yes="warn", no="keep"
            )
            if await self._app.push_screen_wait(ask):

                def avoid() -> None:
                    made = self._bench.rules.avoid_all(book, ids)
                    self._targets.done(f"{len(made)} warnings stand for {named(ids)}. {undo()} takes them back.", ids)

                self._app.change(avoid)

    async def _avoid(self, bullet: Bullet) -> None:
        made: list[str] = []
        preview = Preview(self._bench, bullet.content)

        def save(text: str) -> str | None:
            if (first := preview(text)) is not None:
                return first
            with preview.writing(f"warn of {bullet.id}", lambda: [f"{bullet.book}/{made[-1]}"]):
                made.append(self._bench.rules.avoid(bullet.book, bullet.id, preview.text))
            return None

        place = one_line(self._bench.rules.warns_in(bullet.book), 60)
        title = f"Turn {bullet.id} into a warning under {place}; the rule itself is deprecated"
        await self._app.push_screen_wait(TextEditor(title, warning_of(bullet.content), check=save))
        if made:
            said = f"{made[0]} warns of {bullet.id}, which is deprecated. {undo()} takes both back."
            self._targets.done(said, [bullet.id])

    def split(self) -> None:
        """Take the latest merge of a bullet apart."""
        bullet = self._targets.one()
        if bullet is None:
            return
        if not merged_from(bullet):
            self._app.say(f"{bullet.id} was not made by a merge, so there is nothing to take apart.")
            return

        def part() -> None:
            parts = self._bench.bullet_duplicates.part(bullet.book, bullet.id)
            self._targets.done(f"{', '.join(parts)} are there again. {undo()} takes that back.")

        self._app.change(part)

    def _called(self, id: str) -> Bullet | None:
        """Return a bullet that is shown, by its id."""
        return next((bullet for bullet in self._browser.bullets if bullet.id == id), None)
