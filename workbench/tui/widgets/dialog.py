"""What all dialogs share: a box in the middle, a title, and a line with the keys that hold."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, TypeVar

from textual import events, getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.dom import DOMNode
from textual.geometry import Size
from textual.reactive import Reactive
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from workbench.core.record import WorkbenchError
from workbench.core.runtime import Cancelled, implementation
from workbench.core.text import printable
from workbench.tui.actions import CHOOSE, CONFIRM, ON_DIALOG, PROMPT
from workbench.tui.app.actions import APP, MOVE, Action, bindings, footer_entries
from workbench.tui.app.private_names import OneFrame
from workbench.tui.app.waiting import change, done
from workbench.tui.widgets.content import (
    BLANK,
    MUTED,
    body,
    find_words,
    highlight,
    remapped_ids,
)
from workbench.tui.widgets.header import Held, KeyBar
from workbench.tui.widgets.line_list import Cell, LineView, find_row
from workbench.tui.widgets.reading_pane import ReadingPane

R = TypeVar("R")

HELP, MANUAL = "workbench.tui.manual:HelpScreen", "workbench.tui.manual:open_manual"
"""What shows the keys, and what opens the manual; both are dialogs themselves."""


class Dialog(OneFrame[R]):
    """A modal box: a title, the widgets of `contents`, and the keys of `offered`."""

    BINDINGS = bindings(ON_DIALOG)
    acts: Callable[[str], Awaitable[None]] | None = None
    """What the usual keys do to the record of the row under the cursor (`tui.records.actions`)."""
    rows, pane = getters.query_one(LineView), getters.query_one(ReadingPane)
    """The list and the text in it, where there is one of each."""
    DEFAULT_CSS = """
    Dialog {
        align: center middle;
        & > .dialog {
            width: 72;
            max-width: 100%;
            height: auto;
            max-height: 100%;
            border: round $border;
            background: $surface;
            color: $foreground;
            padding: 0 1;
        }
        & .dialog--title { text-style: bold; height: auto; max-height: 4; margin-bottom: 1; }
        & .dialog--keys { height: 1; margin-top: 1; text-wrap: nowrap; text-overflow: ellipsis; }
    }
    """

    def __init__(self, title: str, offered: Iterable[Action] = ()) -> None:
        super().__init__()
        self._heading = title
        self.state = Static(BLANK, classes="dialog--state")
        """The line in it that says how things stand, where it has one."""
        self._offered = tuple(offered)

    def compose(self) -> ComposeResult:
        """Build the box."""
        with Vertical(classes="dialog"):
            yield Static(body(self._heading), classes="dialog--title")
            yield from self.contents()
            yield KeysLine(self._offered)

    def contents(self) -> Iterable[Widget]:
        """Return what stands between the title and the keys."""
        return ()

    def on_mount(self) -> None:
        """Show the keys as they are mapped now; what was said before would only hide what is asked
        here.
        """
        self.app.clear_notifications()
        for screen in self.app.screen_stack:
            screen.query("ToastHolder").remove()  # those below stay in sight, but are not told
        self.query_one(KeysLine).urgent = getattr(self.app, "urgent", "")

    def tell(self, said: Content | str, style: str = MUTED) -> None:
        """Say how things stand."""
        self.state.update(said if isinstance(said, Content) else body(said, style))

    def complain(self, problem: object) -> None:
        """Say what is wrong."""
        self.tell(f"✗ {problem}", "$text-error")

    async def action_do(self, path: str) -> None:
        """Do what a row of the table of actions names by its path from here: `rows.clear_marks`."""
        await done(self, path)

    async def action_act(self, what: str) -> None:
        """Do something to the record of the row under the cursor."""
        if self.acts is not None:
            await self.acts(what)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the key that finds a row alone where there is no list."""
        del parameters
        return action != "find_row" or bool(self.query(LineView))

    def action_read_on(self) -> None:
        """Scroll the texts in it by half a page."""
        for pane in self.query(ReadingPane):
            pane.read(1)

    def action_read_back(self) -> None:
        for pane in self.query(ReadingPane):
            pane.read(-1)

    def action_slide(self, move: str) -> None:
        """Move the slider in it, wherever the focus is."""
        getattr(self.query_one("Slider"), f"action_{move.replace('-', '_')}")()

    def action_find_row(self) -> None:
        find_row(self)

    def action_help(self) -> None:
        """Show every key that holds here, those of what else can have the focus too."""
        nodes = (self, *(widget for widget in self.query(Widget) if widget.focusable))
        kinds = {kind for node in nodes for kind in type(node).__mro__}
        ids = {
            each.id
            for kind in kinds
            for each in vars(kind).get("BINDINGS", ())
            if isinstance(each, Binding)
        }
        active = {each.binding.id for each in self.active_bindings.values()}
        ids -= {action.id for action in ON_DIALOG} - active
        actions = sorted(
            remapped_ids(filter(None, ids)), key=lambda action: action.group in (APP, MOVE)
        )
        self.app.push_screen(implementation(HELP)(self._heading, actions))

    def action_manual(self) -> None:
        """Open the manual at the page of the area below."""
        implementation(MANUAL)(self.app, self.action_help)

    def action_cancel(self) -> None:
        """Go back from a text to its list, else close without a result."""
        rows = next((rows for rows in self.query(LineView) if rows.focusable), None)
        if rows is not None and isinstance(self.focused, ReadingPane):
            rows.focus()
        else:
            self.dismiss(None)


class KeysLine(KeyBar):
    """The keys that hold in a dialog, with what closes it and help always."""

    LABEL = MUTED
    DEFAULT_CSS = "KeysLine { dock: none; background: transparent; padding: 0; }"

    def __init__(self, actions: Iterable[Action]) -> None:
        super().__init__(classes="dialog--keys")
        self._offered = tuple(actions)

    def held(self) -> tuple[Held, int]:
        *held, help = held_keys(self, (*self._offered, ON_DIALOG[-1]))
        if ON_DIALOG[-1].id in (a.binding.id for a in self.screen.active_bindings.values()):
            return [*held, help], 2
        return held, 1


def held_keys(node: DOMNode, actions: Iterable[Action]) -> Held:
    """Return (key, label) for each action, with the keys that a person's keymap gives them."""
    held: dict[str, list[str]] = {}
    for key, active in node.screen.active_bindings.items():
        held.setdefault(active.binding.id or "", []).append(key)
    shown = ((action, held.get(action.id, [action.first_key])) for action in actions)
    return [
        (action.first_key if action.first_key in keys else keys[0], action.label)
        for action, keys in shown
    ]


# A text to read.


class TextDialog(Dialog[R]):
    """A text, as high as it is; more of it may come later, from `find`, which a thread calls."""

    HIGH: ClassVar[float] = 0.65
    """Share of the screen's height that the text takes at most."""
    DEFAULT_CSS = """
    TextDialog {
        & > .dialog { width: 110; }
        & ReadingPane { height: auto; border: none; padding: 0; }
    }
    """

    def __init__(
        self,
        title: str,
        text: Content,
        offered: Iterable[Action],
        find: Callable[[Cancelled], Content] | None = None,
    ) -> None:
        super().__init__(title, offered)
        self._text, self._find = text, find

    def contents(self) -> Iterable[Widget]:
        yield ReadingPane(id="text")

    def on_mount(self) -> None:
        """Show what is known so far."""
        self.show(self._text)
        self.pane.focus()
        if self._find is not None:
            self._look_up(self._find)

    @work(exclusive=True, group="text", exit_on_error=False, description="preview")
    async def _look_up(self, find: Callable[[Cancelled], Content]) -> None:
        worker = get_current_worker()
        self.show(await asyncio.to_thread(find, lambda: worker.is_cancelled))

    def show(self, text: Content) -> None:
        self.pane.show(text)
        self._fit()

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        self.pane.styles.height = "auto"
        self.call_after_refresh(self.pane.fit, self.HIGH)


# One of many, picked from a list that narrows while one types.


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing to choose: its id (the result), its label, and a remark on the right."""

    id: str
    label: str
    remark: str = ""


Search = Callable[[str], Sequence[Choice] | str]
"""Answers what is typed with choices, or says why it cannot."""

NO_MATCH = "Nothing matches. Backspace widens the list."


class Choose(Dialog[str | None]):
    """Ask for one of the choices; the result is its id, or None.

    Typing narrows the list to labels that hold every typed word; the cursor starts on `current`.
    With a `search` it is what is typed that is listed: the answer to it (to an empty text too), or
    why there is none. `shown` makes of a label what may be seen of it, once it is in sight.
    """

    BINDINGS = bindings(CHOOSE)
    DEFAULT_CSS = """
    Choose LineView {
        height: auto;
        max-height: 14;
        min-height: 3;
        margin-top: 1;
        & > .line--cursor { background: $block-cursor-background; color: $block-cursor-foreground; }
    }
    """

    def __init__(
        self,
        title: str,
        choices: Sequence[Choice] = (),
        current: str = "",
        *,
        search: Search | None = None,
        shown: Callable[[str], str] = str,
    ) -> None:
        super().__init__(title, footer_entries(CHOOSE))
        self._choices = choices
        self._current = current
        self._search = search
        self._shown = shown

    def contents(self) -> Iterable[Widget]:
        """Return the filter and the list."""
        choices: LineView[Choice] = LineView(
            self._draw, lambda choice: choice.id, empty=Content(NO_MATCH)
        )
        choices.can_focus, choices.leads = False, True
        return (SafeInput(placeholder="type to narrow the list"), choices)

    def on_mount(self) -> None:
        """List everything, the cursor on the current choice."""
        if self._search is not None:
            self._find(self._search)
            return
        place = next((i for i, choice in enumerate(self._choices) if choice.id == self._current), 0)
        self.rows.set_rows(self._choices, cursor=place)

    @property
    def _words(self) -> list[str]:
        return self.query_one(SafeInput).value.split()

    def _draw(self, choice: Choice, width: int) -> list[Cell]:
        said = self._shown(choice.label)
        label = highlight(said, find_words(said, self._words))
        remark = min(len(choice.remark), width // 2)
        return [Cell(label), *([Cell(choice.remark, remark, MUTED, "right")] if remark else [])]

    def on_input_changed(self) -> None:
        """Narrow the list; the cursor goes to the first match."""
        if self._search is not None:
            self._find(self._search)
            return
        words = [word.casefold() for word in self._words]
        said = ((choice, self._shown(choice.label).casefold()) for choice in self._choices)
        self.rows.set_rows(
            [choice for choice, label in said if all(word in label for word in words)], cursor=0
        )

    def _find(self, search: Search) -> None:
        found = search(" ".join(self._words))
        self.rows.set_empty(Content(found if isinstance(found, str) else NO_MATCH))
        self.rows.set_rows(() if isinstance(found, str) else found, cursor=0)

    @on(Input.Submitted)
    @on(LineView.Opened)
    def action_take(self) -> None:
        """Take the choice under the cursor."""
        choice = self.rows.current
        if choice is not None:
            self.dismiss(choice.id)

    def action_up(self) -> None:
        self.rows.action_up()

    def action_down(self) -> None:
        self.rows.action_down()


# A question before something is taken away; the answering key differs from the asking one.


GUARD = 0.15
"""Seconds after it appears in which a question takes no "yes", against stray keys."""

_AROUND = 9
"""Lines of the box at most beside the detail: its border, the question, and the keys, with the gaps
between.
"""


class Confirm(Dialog[bool]):
    """Ask yes or no; the result is True only for a yes.

    `clock` gives seconds that never go back. `question` may hold stored text; `detail` says what
    will happen and what will not be lost. One that is too long for the screen scrolls.
    """

    BINDINGS = bindings(CONFIRM)
    DEFAULT_CSS = """
    Confirm .confirm--detail { height: auto; }
    """

    def __init__(
        self,
        question: str,
        *,
        clock: Callable[[], float] = time.monotonic,
        detail: Content | None = None,
        yes: str = "yes",
        no: str = "no",
        guard: float = GUARD,
    ) -> None:
        super().__init__(question, (replace(CONFIRM[0], label=yes), replace(CONFIRM[1], label=no)))
        self._detail = detail
        self._clock = clock
        self._guard = guard
        self._shown_at: float | None = None

    def contents(self) -> Iterable[Widget]:
        return (
            (VerticalScroll(Static(self._detail), classes="confirm--detail"),)
            if self._detail
            else ()
        )

    def on_resize(self, event: events.Resize) -> None:
        """Leave room for the keys."""
        for detail in self.query(".confirm--detail"):
            detail.styles.max_height = max(1, event.size.height - _AROUND)

    def on_mount(self) -> None:
        """Start the guard."""
        self._shown_at = self._clock()

    def action_yes(self) -> None:
        """Agree, unless the key came too early to be meant."""
        if self._shown_at is not None and self._clock() - self._shown_at >= self._guard:
            self.dismiss(True)

    def action_no(self) -> None:
        """Leave everything as it is."""
        self.dismiss(False)


async def sure(
    node: DOMNode,
    question: str,
    detail: str | Content = "",
    yes: str = "yes",
    no: str = "no",
    guard: float = GUARD,
) -> bool:
    """Ask before something is changed (see `Confirm`), and wait for the answer."""
    told = body(detail) if isinstance(detail, str) else detail
    ask = Confirm(question, detail=told if told.plain else None, yes=yes, no=no, guard=guard)
    answer: bool | None = await node.app.push_screen_wait(ask)
    return answer or False


# One line asked of a person, checked while it is written.


ROOM = 10_000
"""Characters that a line has room for: with more, each key in it takes longer than a key may."""


class SafeInput(Input):
    """Textual's `Input` for stored or pasted text: no control or bidi character gets in, no cursor
    blinks.
    """

    virtual_size = Reactive(Size(0, 0))
    """How much there is to scroll; what is typed moves nothing else on the screen, which is not
    laid out for it.
    """

    def __init__(
        self,
        value: str = "",
        *,
        placeholder: str = "",
        id: str | None = None,
    ) -> None:
        super().__init__(printable(value), placeholder=printable(placeholder), compact=True, id=id)
        self.cursor_blink = False

    def on_paste(self, event: events.Paste) -> None:
        """Take the first line of what is pasted."""
        event.prevent_default()
        event.stop()
        self._put(event.text)

    def action_paste(self) -> None:
        """Paste what was copied in the app."""
        self._put(self.app.clipboard)

    def _put(self, pasted: str) -> None:
        """Put a line in place of the selection, as much of it as there is room for, and say what is
        left out.
        """
        line = next(iter(pasted.splitlines()), "")
        start, end = sorted(self.selection)
        kept = line[: max(0, ROOM - len(self.value) + end - start)]
        if start == end:
            self.insert_text_at_cursor(kept)
        else:
            self.replace(kept, start, end)
        if len(kept) < len(line):
            said = f"A line has room for {ROOM:,} characters: {len(line) - len(kept):,} of the paste were left out."
            self.app.notify(said.replace(",", "\u00a0"), severity="warning", markup=False)

    def validate_value(self, value: str) -> str:
        """Replace what is not plain ink by visible symbols."""
        return printable(value)

    def path_to_write(self) -> Path:
        """Return the file that is named here; raises `WorkbenchError` when none is."""
        return path_to_write(self.value)


def path_to_write(name: str) -> Path:
    """Return a file that is named; raises `WorkbenchError` when none is."""
    name = name.strip()
    if not name:
        raise WorkbenchError("Give the file to write.")
    try:
        return Path(name).expanduser()
    except RuntimeError as error:
        raise WorkbenchError(
            f"{name} names an unknown home folder.", "Nothing was written."
        ) from error


Check = Callable[[str], str | None]
"""Says what is to be said of a line before it is taken, or None."""


class CheckedLine(Vertical):
    """An input, and below it what is wrong with it.

    `check` returns a sentence that says what is wrong with a line, or None when it can be taken;
    `preview` one that is to be read before a good line is taken, or None.
    """

    DEFAULT_CSS = """
    CheckedLine {
        height: auto;
        .prompt--problem { height: auto; min-height: 1; max-height: 3; color: $text-error; }
    }
    """

    def __init__(
        self, value: str, placeholder: str, check: Check, preview: Check = lambda _: None
    ) -> None:
        self._input = SafeInput(value, placeholder=placeholder)
        self._problem = Static(BLANK, classes="prompt--problem")
        super().__init__(self._input, self._problem)
        self._check = check
        self._preview = preview

    def on_input_changed(self, event: Input.Changed) -> None:
        """Drop the complaint once the line is good; it comes first with enter."""
        if not self._check(event.value.strip()):
            self.complain("")

    def taken(self) -> str | None:
        """Return the line without outer spaces; None when it cannot be taken, and then it says why."""
        value = self._input.value.strip()
        problem = self._check(value) or (self._preview(value) if value else None)
        if problem:
            self.complain(problem)
        return None if problem else value

    def complain(self, sentence: str) -> None:
        """Say what is wrong, or nothing."""
        self._problem.update(body(f"✗ {sentence}" if sentence else ""))


class Prompt(Dialog[str | None]):
    """Ask for one line; the result is the line without outer spaces, or None.

    `check` and `preview` are those of a `CheckedLine`. `take` does with it what changes the store,
    while this is still open: what goes wrong is said here, and the line stays.
    """

    BINDINGS = bindings(PROMPT)

    def __init__(
        self,
        title: str,
        value: str = "",
        *,
        placeholder: str = "",
        check: Check = lambda _: None,
        take: Callable[[str], object] | None = None,
        preview: Check = lambda _: None,
        offered: Iterable[Action] = PROMPT,
    ) -> None:
        super().__init__(title, offered)
        self._line = CheckedLine(value, placeholder, check, preview)
        self._take = take

    def contents(self) -> Iterable[Widget]:
        """Return the input and the line for what is wrong."""
        return (self._line,)

    def on_input_submitted(self) -> None:
        """Enter inside the input takes the line."""
        self.action_take()

    def action_take(self) -> None:
        """Take the line, or say what is wrong with it."""
        value, take = self._line.taken(), self._take
        if value is None:
            return
        if take is None or not value:
            self.dismiss(value)
            return

        def taken() -> None:
            take(value)
            self.dismiss(value)

        change(self, taken, lambda error: self._line.complain(str(error)))
