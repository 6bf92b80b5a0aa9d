"""What a person does to memories and bullets, wherever they are listed."""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from workbench.core.stream.memory import Verdict
from workbench.services.safety.masking import masked_name
from workbench.tui.app.area import AreaScreen
from workbench.tui.widgets.content import body, undo

if TYPE_CHECKING:
    from workbench.services.forms import Form
    from workbench.services.stream.votes import VoteResult

NOT_PROMOTED = "Bullets are served with their playbook: X in the Playbook exports it to a file."


class RecordActions:
    """Changes the records that are picked, after asking where that is due, and says what was done.

    `picked` returns the keys of all that are meant, `here` that of the one under the cursor; `done` lets go of them
    once something was done to them. A method is named after what its key does (`records.links.Acts`).
    """

    table: ClassVar[str]
    many: ClassVar[str]

    def __init__(
        self,
        area: AreaScreen,
        picked: Callable[[], Sequence[str]],
        here: Callable[[], str | None] | None = None,
        done: Callable[[], None] = lambda: None,
    ) -> None:
        self.area, self.app, self.bench = area, area.workbench_app, area.bench
        self.picked, self.done = picked, done
        self._here = here or (lambda: next(iter(picked()), None))

    def helpful(self) -> None:
        """Vote helpful, or take that vote back."""
        self._vote("helpful")

    def harmful(self) -> None:
        """Vote harmful, or take that vote back."""
        self._vote("harmful")

    def pin(self) -> None:
        self.change(lambda keys: f"{'Pinned' if self.turn_pin(keys) else 'Unpinned'} {self.named(keys)}.")

    async def edit(self) -> None:
        """Edit in a form, which stays open when it cannot be saved; of several only what is touched is set."""
        from workbench.tui.forms.form import FormSaving, fill_in

        if keys := self.picked():
            saving = FormSaving(self.app, self.form(keys))
            draft = self.app.draft(f"{self.table}/{keys[0]}") if len(keys) == 1 else None
            saved = await fill_in(self.area, saving, draft)
            if saved and len(keys) > 1:
                left = len(keys) - saving.form.changed
                others = f" The other {left} had that already." if left and saving.form.changed else ""
                back = f" {undo()} takes it back." if saving.form.changed else ""
                self.said(f"Set {', '.join(saved)} of {saving.form.changed} {self.many}.{others}{back}")
            elif saved:
                self._say_saved(keys[0], saving.copies.told)

    async def external(self, line: int = 0) -> None:
        """Edit what is under the cursor in $EDITOR, from a line of its text on; what cannot be saved is a form."""
        from workbench.tui.forms.form import FormSaving, fill_in_elsewhere

        if (key := self._here()) is not None:
            saving = FormSaving(self.app, self.form([key]))
            if await fill_in_elsewhere(self.area, saving, self.app.draft(f"{self.table}/{key}"), line):
                self._say_saved(key, saving.copies.told)

    async def forget(self) -> None:
        """Archive or delete, several after a yes; archived memories are restored instead."""
        from workbench.tui.widgets.dialog import Confirm

        keys = self.picked()
        if not keys:
            return
        verb, meant, step = self.removal(keys)

        def remove(_: Sequence[str]) -> str:
            step(meant)
            return f"{verb}d {self.named(meant)}. {undo()} takes it back."

        if len(meant) > 1:
            detail = body(f"Undo ({undo()}) takes it back; nothing is erased.")
            question = f"{verb} {self.named(meant)}?"
            ask = Confirm(question, clock=time.monotonic, detail=detail, yes=verb.lower())
            if not await self.app.push_screen_wait(ask):
                return
        self.change(remove, meant)

    def copy(self) -> None:
        if keys := self.picked():
            self.area.copy(*map(self.text, keys))
            self.done()

    def history(self) -> None:
        """Show who changed what."""
        if (key := self._here()) is not None:
            self.area.show_history(key)

    def promote(self) -> None:
        """Write it where agents read it, after a look at the text."""
        raise NotImplementedError

    def change(self, step: Callable[[Sequence[str]], str], keys: Sequence[str] | None = None) -> None:
        """Change what is picked by a step that returns what is to be said then."""
        meant = self.picked() if keys is None else keys
        if meant:
            self.app.change(lambda: self.said(step(meant)))

    def said(self, sentence: str) -> None:
        """Say what was done, and let go of what it was done to."""
        self.done()
        self.app.say(sentence)

    def named(self, keys: Sequence[str]) -> str:
        """Return what one is called, or how many there are."""
        return f"{len(keys)} {self.many}" if len(keys) > 1 else masked_name(self.id(keys[0]), self.bench.safety.masked)

    def _vote(self, verdict: Verdict) -> None:
        def vote(keys: Sequence[str]) -> str:
            result = self.cast(keys, verdict)
            return result.told(self.named(keys)) if len(keys) == 1 else f"Voted {verdict} on {self.named(keys)}."

        self.change(vote)

    def _say_saved(self, key: str, copies: str) -> None:
        note = self.area.flagged_note(self.text(key))
        self.done()
        severity = "warning" if note else "information"
        self.app.say(f"Saved {self.named([key])}.{copies} {undo()} takes it back.{note}", severity)

    # What differs from table to table

    def id(self, key: str) -> str:
        return key

    def text(self, key: str) -> str:
        raise NotImplementedError

    def form(self, keys: Sequence[str]) -> "Form":
        raise NotImplementedError

    def cast(self, keys: Sequence[str], verdict: Verdict) -> "VoteResult":
        """Vote on records; the same vote again on a single one takes it back."""
        raise NotImplementedError

    def turn_pin(self, keys: Sequence[str]) -> bool:
        """Pin or unpin, and return which."""
        raise NotImplementedError

    def removal(self, keys: Sequence[str]) -> tuple[str, Sequence[str], Callable[[Sequence[str]], object]]:
        """Return what removing records is called, for which of them it is, and what does it."""
        raise NotImplementedError


class MemoryActions(RecordActions):
    """What is done to memories."""

    table, many = "memories", "memories"

    def confirm(self) -> None:
        """Confirm signals: the person approves of them."""

        def confirm(keys: Sequence[str]) -> str:
            confirmed = self.bench.stream.confirm(keys)
            others = len(keys) - len(confirmed)
            rest = f" {others} {'was no signal' if others == 1 else 'were no signals'}." if others else ""
            return f"Confirmed {self.named(confirmed)}. {undo()} takes it back.{rest}"

        self.change(confirm)

    def promote(self) -> None:
        if keys := self.picked():
            from workbench.tui.promotion.dialog import open_promote

            open_promote(self.area, list(keys), then=self.done)

    def text(self, key: str) -> str:
        return self.bench.stream.get(key).content

    def form(self, keys: Sequence[str]) -> "Form":
        from workbench.services.forms import MemoryForm

        return MemoryForm(self.bench, *keys)

    def cast(self, keys: Sequence[str], verdict: Verdict) -> "VoteResult":
        return self.bench.stream.vote(keys, verdict)

    def turn_pin(self, keys: Sequence[str]) -> bool:
        return self.bench.stream.pin(keys)

    def removal(self, keys: Sequence[str]) -> tuple[str, Sequence[str], Callable[[Sequence[str]], object]]:
        stream = self.bench.stream
        archived = [key for key in keys if stream.get(key).status == "archived"]
        return ("Restore", archived, stream.restore) if archived else ("Archive", keys, stream.forget)


class BulletActions(RecordActions):
    """What is done to bullets of one playbook; a key is `BOOK/ID`."""

    table, many = "bullets", "bullets"

    def promote(self) -> None:
        """Say how bullets reach agents."""
        self.app.say(NOT_PROMOTED)

    def id(self, key: str) -> str:
        return key.rpartition("/")[2]

    def text(self, key: str) -> str:
        book, ids = _parts([key])
        return self.bench.playbooks.bullet(book, ids[0]).content

    def form(self, keys: Sequence[str]) -> "Form":
        from workbench.services.forms import BulletForm

        book, ids = _parts(keys)
        return BulletForm(self.bench, book, *ids)

    def cast(self, keys: Sequence[str], verdict: Verdict) -> "VoteResult":
        return self.bench.playbooks.vote(*_parts(keys), verdict)

    def turn_pin(self, keys: Sequence[str]) -> bool:
        return self.bench.playbooks.pin(*_parts(keys))

    def removal(self, keys: Sequence[str]) -> tuple[str, Sequence[str], Callable[[Sequence[str]], object]]:
        return "Delete", keys, lambda keys: self.bench.playbooks.delete(*_parts(keys))


def _parts(keys: Sequence[str]) -> tuple[str, list[str]]:
    """Return the playbook that bullets are of, and their ids."""
    return keys[0].rpartition("/")[0], [key.rpartition("/")[2] for key in keys]
