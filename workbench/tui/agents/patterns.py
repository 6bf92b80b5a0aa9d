"""What agents learned to do: patterns with their evidence and applications, edited and decided upon."""

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar, cast

from textual import on, work
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.core.agents.patterns.matching import task_of
from workbench.core.agents.patterns.pattern import OUTCOMES, RELATIONS, Outcome, Pattern, Relation
from workbench.core.agents.patterns.schema import pattern_doc, pattern_from
from workbench.core.agents.patterns.wording import in_full
from workbench.core.record import WorkbenchError
from workbench.core.text import counted
from workbench.services.open import Workbench
from workbench.services.safety.masking import masked, masked_name
from workbench.tui.agents.actions import PATTERNS
from workbench.tui.app.actions import bindings
from workbench.tui.app.host import Host
from workbench.tui.app.waiting import asking, change
from workbench.tui.records.links import linked_pane
from workbench.tui.widgets.content import MUTED, body, key_of
from workbench.tui.widgets.dialog import Choice, Choose, Confirm, Dialog
from workbench.tui.widgets.lists.line_list import LineView
from workbench.tui.widgets.lists.reading_pane import ReadingPane
from workbench.tui.widgets.lists.row import Cell
from workbench.tui.widgets.texts.editor import TextEditor
from workbench.tui.widgets.texts.prompt import Prompt

EMPTY = (
    "No patterns yet: `workbench pattern add FILE` adds some, `workbench pattern import FILE` those of a file, and "
    "agents add candidates."
)
LOOKING = "Looking …"

EDITED = (
    "name", "category", "summary", "description", "detailed_explanation", "applicability", "content", "application",
    "baseline",
)  # fmt: skip
"""What of a pattern is edited: what it says, not what speaks for it."""

SIGNS = {"validated": "●", "candidate": "?", "under_review": "!", "deprecated": "×"}
"""How each status is marked in the list, as elsewhere: “?” waits, “!” is to be looked at; the text has the word."""

WIDE = 56
"""Cells of the list from which on it says how often a pattern was used, and its category."""

LONGEST = 100_000
"""Characters of a pattern that can be edited."""

WEIGHED = {
    "insufficient": "It has too few applications of the last 90 days to say anything: {episodes} of 5.",
    "candidate": "{successes} of {episodes} succeeded; the confidence of {confidence:.2f} is not above 0.7 yet.",
    "validated": "{successes} of {episodes} succeeded, p = {p_value:.3g}: the evidence speaks for it.",
    "under_review": "{successes} of {episodes} succeeded, p = {p_value:.3g}: the evidence does not speak for it.",
}
"""What is said of a pattern after its evidence was weighed, by what it comes to."""


class Looked(Message):
    """A thread has read the patterns."""

    def __init__(self, patterns: Sequence[Pattern], fits: Sequence[str]) -> None:
        super().__init__()
        self.patterns, self.fits = patterns, fits


class PatternsDialog(Dialog[None]):
    """The patterns of a store, the surest first, and all that is known of the one under the cursor.

    `copy` puts a text on the clipboard.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(PATTERNS)
    DEFAULT_CSS = """
    PatternsDialog {
        & > .dialog { width: 94%; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & #patterns-body { height: 1fr; }
        & #patterns-list { width: 1fr; }
        & #patterns-text { width: 1fr; border-left: solid $panel; }
        & #patterns-line { height: auto; max-height: 3; color: $text-warning; }
    }
    """

    def __init__(self, bench: Workbench, copy: Callable[[str], None]) -> None:
        super().__init__("Patterns: what agents learned", PATTERNS)
        self._bench, self._since = bench, bench.library.revision
        self._copy, self._wanted = copy, ""
        self.rows: LineView[Pattern] = LineView(
            self._draw, lambda pattern: pattern.id, empty=Content(LOOKING), id="patterns-list"
        )

    def contents(self) -> Iterable[Widget]:
        """Return the list, the text, and a line for what was done or went wrong."""
        yield Horizontal(self.rows, linked_pane("patterns-text", self._bench, self._path), id="patterns-body")
        yield Static(id="patterns-line")

    def _path(self) -> tuple[str, ...]:
        """Return where a link is opened from, as the title of what it opens says."""
        row = self.rows.current
        return ("Patterns", *([] if row is None else [masked_name(row.id, self._bench.safety.masked)]))

    def on_mount(self) -> None:
        self.rows.focus()
        self._read()

    @work(thread=True, group="patterns", exclusive=True, description="read patterns")
    def _read(self) -> None:
        worker = get_current_worker()
        found = self._bench.patterns.find(task_of(self._wanted), None) if self._wanted else None
        patterns = self._bench.patterns.all() if found is None else [one.pattern for one in found.matches]
        fits = (
            () if found is None else tuple(f"{one.about.replace('_', ' ')} {one.name}: {one.why}" for one in found.fits)
        )
        if not worker.is_cancelled:
            self.post_message(Looked(patterns, fits))

    @on(Looked)
    def _looked(self, event: Looked) -> None:
        self.rows.set_empty(Content("No pattern in use fits this task." if self._wanted else EMPTY))
        if event.fits:
            self._say(" · ".join(event.fits))
        self.rows.set_rows(event.patterns)
        self._show()

    @on(LineView.Highlighted, "#patterns-list")
    def _show(self) -> None:
        pattern = self.rows.current
        pane = self.query_one(ReadingPane)
        if pattern is None:
            pane.show(body(""))
            return
        mask = self._bench.safety.masked
        done = self._bench.patterns.applications(pattern.id)
        flagged = [f.reason for held in self._bench.safety.unpermitted([pattern]) for f in held.findings]
        lines = [f"⚑ {reason}" for reason in dict.fromkeys(flagged)]
        lines += in_full(masked(pattern, mask), masked(done, mask))
        lines += [
            f"similar: {mask(one.pattern.name)} ({one.score:.0%})" for one in self._bench.patterns.similar(pattern.id)
        ]
        pane.show(body("\n".join(lines)))

    @on(LineView.Opened, "#patterns-list")
    def _into(self) -> None:
        self.query_one(ReadingPane).focus()

    def action_pane(self) -> None:
        """To the text, and back."""
        pane = self.query_one(ReadingPane)
        (self.rows if pane.has_focus else pane).focus()

    def action_approve(self) -> None:
        """Take a candidate into use, or one that is under review back into it."""
        pattern = self.rows.current
        if pattern is None:
            return
        patterns = self._bench.patterns
        step = patterns.refine if pattern.status == "under_review" else patterns.approve
        self._change(lambda: step(pattern.id), f"{pattern.name} is in use.")

    @asking
    async def action_deprecate(self) -> None:
        """Deprecate the pattern under the cursor for a reason, or restore one that is deprecated."""
        pattern = self.rows.current
        if pattern is None:
            return
        patterns = self._bench.patterns
        if pattern.status == "deprecated":
            self._change(lambda: patterns.restore(pattern.id), f"{pattern.name} is a candidate again.")
            return

        def missing(reason: str) -> str | None:
            return None if reason else "Say why, in a few words; esc leaves it as it is."

        def take(reason: str) -> None:
            patterns.deprecate(pattern.id, reason)

        ask = Prompt(f"Why is {self._bench.safety.masked(pattern.name)} deprecated?", check=missing, take=take)
        if await self.app.push_screen_wait(ask):
            self._done(f"{pattern.name} is deprecated.")

    def action_weigh(self) -> None:
        """Weigh the applications of the pattern under the cursor."""
        pattern = self.rows.current
        if pattern is None:
            return

        def weigh() -> None:
            (found,) = self._bench.patterns.validate([pattern.id])
            known = found.finding
            said = WEIGHED[found.outlook].format(
                episodes=known.episodes, successes=known.successes, confidence=known.confidence, p_value=known.p_value
            )
            self._done(said)

        change(self, weigh, self._complain)

    @asking
    async def action_add(self) -> None:
        """Write a new pattern."""
        now = self._bench.context.now()
        patch = await self._patch(Pattern("new", "", "strategy", now, now), "A new pattern: its name, and what it says")
        if patch:
            self._change(lambda: self._bench.patterns.add([patch]), f"{patch.get('name')} is a candidate.")

    @asking
    async def action_apply(self) -> None:
        """Record how applying the pattern under the cursor went."""
        pattern = self.rows.current
        if pattern is None:
            return

        def wrong(text: str) -> str | None:
            said = text.split(None, 2)[1:2]
            return None if said and said[0] in OUTCOMES else f"Write an episode, {' or '.join(OUTCOMES)}, and a note."

        def take(text: str) -> None:
            episode, outcome, note = (*text.split(None, 2), "")[:3]
            self._bench.patterns.record(pattern.id, episode, cast(Outcome, outcome), note=note)

        ask = Prompt("In which episode was it applied, and how did that go?", check=wrong, take=take)
        if await self.app.push_screen_wait(ask):
            self._done(f"Recorded for {pattern.name}.")

    @asking
    async def action_task(self) -> None:
        """List the patterns in use that fit a task, or all again."""
        ask = Prompt("Which task? Empty lists all patterns again", self._wanted)
        text = await self.app.push_screen_wait(ask)
        if text is not None:
            self._wanted = text
            self._read()

    @asking
    async def action_edit(self) -> None:
        """Edit what the pattern under the cursor says; what cannot be read is named before it is saved."""
        pattern = self.rows.current
        patch = None if pattern is None else await self._patch(pattern, "What the pattern says")
        if pattern is not None and patch:
            self._change(lambda: self._bench.patterns.update(pattern.id, patch), f"{pattern.name} is changed.")

    @asking
    async def action_refine(self) -> None:
        """Edit a pattern that is under review and take it back into use."""
        pattern = self.rows.current
        if pattern is None:
            return
        if pattern.status != "under_review":
            e, a = key_of("patterns.edit"), key_of("patterns.approve")
            self._say(f"Only a pattern under review is refined; {e} edits this one, {a} approves a candidate.")
            return
        patch = await self._patch(pattern, "What the pattern says from now on; its evidence begins anew")
        if patch is not None:
            self._change(
                lambda: self._bench.patterns.refine(pattern.id, patch=patch),
                f"{pattern.name} is in use; its evidence begins anew.",
            )

    async def _patch(self, pattern: Pattern, title: str) -> Mapping[str, object] | None:
        """Return what a person changed of a pattern, perhaps nothing; `None` for a cancelled edit."""
        doc = pattern_doc(pattern)
        text = json.dumps({key: doc[key] for key in EDITED}, indent=2, ensure_ascii=False)
        now = self._bench.context.now()

        def wrong(typed: str) -> str | None:
            patch = _object(typed)
            if isinstance(patch, str):
                return patch
            try:
                pattern_from({**doc, **dict.fromkeys(EDITED), **patch}, now)
            except WorkbenchError as error:
                return error.message
            return None

        typed = await self.app.push_screen_wait(TextEditor(title, text, limit=LONGEST, check=wrong))
        patch = {} if typed == text else None if typed is None else _object(typed)
        if not isinstance(patch, Mapping):
            return None
        return {**{key: None for key in EDITED if key not in patch}, **patch} if patch else {}

    @asking
    async def action_merge(self) -> None:
        """Merge the pattern under the cursor with another of its category."""
        pattern = self.rows.current
        other = None if pattern is None else await self._other(pattern, "Merge it with", same=True)
        if pattern is not None and other is not None:
            self._change(
                lambda: self._bench.patterns.merge([pattern.id, other.id]),
                f"{pattern.name} and {other.name} are one; both are deprecated in its favour.",
            )

    @asking
    async def action_supersede(self) -> None:
        """Deprecate the pattern under the cursor in favour of another."""
        pattern = self.rows.current
        other = None if pattern is None else await self._other(pattern, "Superseded by")
        if pattern is not None and other is not None:
            self._change(
                lambda: self._bench.patterns.supersede(pattern.id, other.id),
                f"{pattern.name} is superseded by {other.name}.",
            )

    @asking
    async def action_relate(self) -> None:
        """Say how the pattern under the cursor stands to another, or take that back."""
        pattern = self.rows.current
        if pattern is None:
            return
        relation = await self.app.push_screen_wait(
            Choose("How does it stand to another pattern?", [Choice(one, one) for one in RELATIONS])
        )
        other = None if relation is None else await self._other(pattern, f"It {relation}")
        if relation is None or other is None:
            return
        known = getattr(pattern.relationships, relation) or ()
        is_said = other.id in ((known,) if isinstance(known, str) else known)
        self._change(
            lambda: self._bench.patterns.relate(pattern.id, cast(Relation, relation), other.id, remove=is_said),
            f"{pattern.name} {'no longer ' if is_said else ''}{relation} {other.name}.",
        )

    async def _other(self, pattern: Pattern, title: str, *, same: bool = False) -> Pattern | None:
        """Ask for another pattern, those that are like it first; with `same` one of its category."""
        patterns = self._bench.patterns
        like = {one.pattern.id: f"{one.score:.0%} alike" for one in patterns.similar(pattern.id)}
        others = {
            one.id: one
            for one in sorted(patterns.all(), key=lambda one: one.id not in like)
            if one.id != pattern.id and one.status != "deprecated" and (not same or one.category == pattern.category)
        }
        if not others:
            self._say("There is no other pattern" + (f" of the category {pattern.category}." if same else "."))
            return None
        choices = [Choice(one.id, one.name, like.get(one.id, one.category)) for one in others.values()]
        chosen = await self.app.push_screen_wait(Choose(title, choices, shown=self._bench.safety.masked))
        return None if chosen is None else others[chosen]

    @asking
    async def action_prune(self) -> None:
        """Deprecate the patterns that are worth little, once they were shown."""
        weak, mask = self._bench.patterns.weak(), self._bench.safety.masked
        if not weak:
            self._say("No pattern is worth little.")
            return
        lines = [f"{mask(one.name)}: {', '.join(why).replace('_', ' ')}" for one, why in weak]
        ask = Confirm(
            f"Deprecate {counted(len(weak), 'pattern')} worth little?", clock=time.monotonic,
            detail=body("\n".join(lines)),
        )  # fmt: skip
        if await self.app.push_screen_wait(ask):
            ids = [one.id for one, _ in weak]
            self._change(lambda: self._bench.patterns.prune(ids), f"{counted(len(ids), 'pattern')} deprecated.")

    def action_copy(self) -> None:
        """Copy the pattern under the cursor as JSON."""
        if (pattern := self.rows.current) is not None:
            doc = masked(pattern_doc(pattern), self._bench.safety.masked)
            self._copy(json.dumps(doc, indent=2, ensure_ascii=False))

    @asking
    async def action_undo(self) -> None:
        """Take back the latest change."""
        await cast(Host, self.app).take_back(self._done, self._since)

    def _change(self, do: Callable[[], object], said: str) -> None:
        def done() -> None:
            do()
            self._done(said)

        change(self, done, self._complain)

    def _done(self, said: str) -> None:
        self._say(said)
        self._read()

    def _complain(self, error: WorkbenchError) -> None:
        self._say(f"✗ {error}")

    def _say(self, text: str) -> None:
        self.query_one("#patterns-line", Static).update(body(self._bench.safety.masked(text)))

    def _draw(self, pattern: Pattern, width: int) -> list[Cell]:
        mask = self._bench.safety.masked
        style = MUTED if pattern.status == "deprecated" else ""
        cells = [
            Cell(SIGNS[pattern.status], 1),
            Cell(mask(pattern.name), 0, style),
            Cell(f"{pattern.support.confidence_score:.2f}", 4, "", "right"),
        ]
        if width < WIDE:
            return cells
        return [*cells, Cell(f"{pattern.usage_count:,}×", 6, MUTED, "right"), Cell(pattern.category, 14, MUTED)]


def _object(text: str) -> Mapping[str, object] | str:
    """Return the JSON object that a text is, or what is wrong with it."""
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        return f"Line {error.lineno}: no JSON: {error.msg}."
    except RecursionError:
        return "It goes too deep."
    return found if isinstance(found, Mapping) else "It is not a JSON object."
