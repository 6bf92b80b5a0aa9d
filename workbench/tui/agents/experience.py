"""What agents did and learned: episodes and patterns, looked at with their evidence, edited and
decided upon.
"""

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, cast

from textual import work
from textual.content import Content

from workbench.core.agents.episodes.criteria import (
    STRATEGIES,
    Strategy,
    cluster_lines,
    compared,
    criteria_in,
    is_over,
    phase_of,
    said_lines,
)
from workbench.core.agents.episodes.episode import Episode
from workbench.core.agents.patterns.matching import in_full, task_of
from workbench.core.agents.patterns.pattern import OUTCOMES, RELATIONS, Outcome, Pattern, Relation
from workbench.core.agents.patterns.schema import pattern_doc, pattern_from
from workbench.core.record import WorkbenchError
from workbench.core.text import counted
from workbench.services.agents.episodes import Opened, bring, found_in, name_of
from workbench.services.open import Workbench
from workbench.services.safety.masking import masked
from workbench.tui.actions import EPISODES, PATTERNS
from workbench.tui.agents.browse import Browse, Parts, on_row
from workbench.tui.app.actions import bindings
from workbench.tui.app.waiting import asking
from workbench.tui.records.actions import area_below
from workbench.tui.widgets.content import MUTED, body, key_of, keyed
from workbench.tui.widgets.dialog import Choice, Choose, Prompt, sure
from workbench.tui.widgets.editor import TextEditor
from workbench.tui.widgets.figures import absolute, amount, number, since
from workbench.tui.widgets.line_list import Cell

MOST, FOUND = 2_000, 50
"""Episodes that are listed, the latest (`workbench episode list` has them all), and that are found
at most.
"""

ASKED = "words, domain:ci, type:…, outcome:failure, tag:…, tool:…, since:7d; empty: all"
ABOUT: Mapping[Strategy, str] = {
    "semantic": "by the task, in words", "structured": "by domain:, type:, outcome: …", "hybrid": "by both",
    "temporal": "the latest, since: and until:", "failure": "by what an error says",
}  # fmt: skip
"""The strategies, in words."""

OUTCOME_SIGNS = {
    "SUCCESS": ("✓", "$text-success"),
    "PARTIAL": ("~", "$text-warning"),
    "FAILURE": ("✗", "$text-error"),
}


class Row(NamedTuple):
    """An episode, and what its task was (`None` where its file cannot be read); of one that was
    found its score.
    """

    episode: Episode
    task: str | None
    score: float = 0.0


class EpisodesDialog(Browse[None, Row]):
    """The episodes of a store by time, and all that the one under the cursor says."""

    BINDINGS = bindings(EPISODES)
    STACKED = True
    EMPTY = (
        "No episodes yet. Capture creates one for each task of a session (`workbench hooks install`), agents store "
        "them with learn_from_episode, and `workbench episode add FILE` adds them from files."
    )

    def __init__(self, bench: Workbench) -> None:
        super().__init__("Episodes", bench, EPISODES)
        self._trace = self._query = self._compared = ""
        self._pair = ("", "")
        self._strategy: Strategy = "semantic"

    def key_of(self, row: Row) -> Hashable:
        return row.episode.id

    def gather(self) -> Callable[[], object]:
        if self._query:
            text, criteria = criteria_in(self._query, self.bench.context.now())
            found = self.bench.episode_finder.find(
                text, self._strategy, replace(criteria, every=True), FOUND
            )
            hits = [Row(one.episode, one.digest.task, one.total) for one in found.found]
            said = (
                f"{self._strategy} “{self._query}”: {number(len(hits))} of {number(found.fitting)}"
            )
            said += f" · {key_of('episodes.search')} empty shows all"
            return lambda: self.listed(hits, said, empty="No matching episode.", cursor=0)
        episodes, every = self.bench.episodes, self.bench.episodes.all()
        rows = [Row(one, episodes.task_of(one)) for one in every[:MOST]]
        more = f"The latest {number(MOST)} of {number(len(every))}; `workbench episode list` has them all."
        return lambda: self.listed(rows, more if len(every) > MOST else "")

    def draw(self, row: Row, width: int) -> Sequence[Cell]:
        del width
        episode = row.episode
        task = "(its file cannot be read)" if row.task is None else row.task
        gone = episode.status != "active"
        return [
            Cell(*_sign(episode)),
            Cell(
                f"({episode.status}) {task}" if gone else task,
                0,
                MUTED if gone or row.task is None else "",
                name="episode",
            ),
            *([Cell(f"{row.score:.2f}", 4, MUTED, name="fit")] if row.score else []),
            Cell(since(episode.at, self.bench.context.now()), 9, MUTED, "right", "when"),
        ]

    def text_of(self, row: Row) -> Parts:
        opened = self.bench.episodes.open(row.episode.id)
        before, here = self._pair
        if before and here == row.episode.id != before:
            return comparison_of(self.bench.episodes.open(before), opened)
        self._pair = ("", "")
        trace = not opened.is_closed or self._trace == row.episode.id
        return episode_parts(self.bench, opened, trace=trace)

    # Finding

    @asking
    async def action_search(self) -> None:
        """Find episodes by words and names; nothing shows all again."""
        ask = Prompt(f"Find episodes: {self._strategy}", self._query, placeholder=ASKED)
        found = await self.app.push_screen_wait(ask)
        if found is not None:
            self._query, self._pair = found, ("", "")
            self.done("")

    @asking
    async def action_strategy(self) -> None:
        """Choose by which strategy to find."""
        choices = [Choice(name, name, about) for name, about in ABOUT.items()]
        chosen = await self.app.push_screen_wait(Choose("Find by", choices, self._strategy))
        if chosen is not None:
            self._strategy = next(one for one in STRATEGIES if one == chosen)
            self.done(
                ""
                if self._query
                else keyed(f"{self._strategy}: {{episodes.search}} writes what to find.")
            )

    @on_row
    def action_compare(self, row: Row) -> None:
        """Remember the episode under the cursor, or compare it with the one that is remembered."""
        self._pair = (self._compared, row.episode.id)
        self._compared = "" if self._compared else row.episode.id
        self.say(
            keyed("{episodes.compare} on another one compares the two.") if self._compared else ""
        )
        self.show()

    def action_trace(self) -> None:
        """Open the trace of an old episode, or close it."""
        row = self.rows.current
        self._trace = "" if row is None or self._trace == row.episode.id else row.episode.id
        self.show()

    # Changing

    @work(exclusive=True, group="consolidate")
    async def action_consolidate(self) -> None:
        """Look for episodes that say the same, and ask whether to put them under one."""
        self.say("Looking for similar episodes …")
        consolidation = self.bench.episode_finder.consolidation
        plan = await self.away(lambda: consolidation.plan(self.closed.is_set))
        if plan is None:
            return
        self.say("" if plan.clusters else "No similar episodes older than 30 days.")
        question = f"Archive {amount(len(plan.archived), 'episode')} under {number(len(plan.clusters))} similar ones?"
        detail = "They are kept in the archive."
        if plan.clusters and await sure(self, question, detail, "consolidate", guard=0.0):
            self.change(
                lambda: consolidation.carry_out(plan),
                keyed("Consolidated. {episodes.undo} takes it back."),
            )

    @asking
    async def action_erase(self) -> None:
        """Erase the episode under the cursor for good, once its retention is over."""
        row = self.rows.current
        if row is None or not is_over(row.episode, self.bench.context.now()):
            self.say("Only an episode that was deleted 30 days ago or earlier can be erased.")
            return
        id, eraser = row.episode.id, self.bench.eraser
        if await sure(self, f"Erase {id} for good?", "There is no undo.", "erase"):
            self.change(lambda: eraser.carry_out(eraser.plan([id])), "Erased.")

    @asking
    async def action_add(self) -> None:
        """Add the episodes of a file or a folder."""

        def take(text: str) -> None:
            place = Path(text).expanduser()
            bring(self.bench.context, found_in(place), name_of(place))

        await self.ask(
            Prompt("Add episodes", placeholder="a file or a folder", take=take), "Added."
        )

    @on_row
    async def action_note(self, row: Row) -> None:
        """Note something on the episode under the cursor."""
        id, note = row.episode.id, self.bench.episodes.note
        ask = Prompt(f"A note on {id}", placeholder="the note", take=lambda text: note(id, text))
        await self.ask(ask, "Noted.")

    @on_row
    async def action_tag(self, row: Row) -> None:
        """Write the tags of the episode under the cursor."""
        id, known = row.episode.id, row.episode.tags

        def write(text: str) -> None:
            tags = [part.strip() for part in text.split(",") if part.strip()]
            gone = [tag for tag in known if tag not in tags]
            self.bench.episodes.tag(
                id, [tag for tag in dict.fromkeys(tags) if tag not in known], gone
            )

        ask = Prompt(
            f"Tags of {id}", ", ".join(known), placeholder="tags, separated by commas", take=write
        )
        await self.ask(ask, "Tagged.", lambda: write(""))

    @on_row
    def action_approve(self, row: Row) -> None:
        """Stand by the episode under the cursor, or no longer."""
        id, withdraw = row.episode.id, row.episode.approved
        said = (
            "No longer approved."
            if withdraw
            else "Approved: agents are served it as approved by you."
        )
        self.change(lambda: self.bench.episodes.approve(id, withdraw=withdraw), said)

    @on_row
    def action_archive(self, row: Row) -> None:
        """Archive the episode under the cursor, or bring it back."""
        id, episodes = row.episode.id, self.bench.episodes
        if row.episode.status == "active":
            self.change(lambda: episodes.archive([id]), "Archived: found on request only.")
        else:
            self.change(lambda: episodes.restore(id), "It is back.")

    @on_row
    def action_delete(self, row: Row) -> None:
        """Delete the episode under the cursor, or bring it back; either way there is a way back."""
        id, episodes = row.episode.id, self.bench.episodes
        if row.episode.status == "deleted":
            self.change(lambda: episodes.restore(id), "It is back.")
        else:
            said = "Deleted: kept for 30 days, not served. {episodes.undo} takes it back."
            self.change(lambda: episodes.delete(id), keyed(said))


def _sign(episode: Episode) -> tuple[str, int, str]:
    sign, style = OUTCOME_SIGNS[episode.outcome]
    return sign, 1, style


def episode_parts(bench: Workbench, opened: Opened, *, trace: bool) -> Parts:
    """Yield all that an episode says."""
    episode, use = opened.episode, opened.use
    last = f", last {absolute(use.last_accessed_at)}" if use.last_accessed_at is not None else ""
    facts = [
        f"{absolute(episode.at)} · {episode.outcome.lower()} · {phase_of(episode, bench.context.now())}"
        + (" · approved" if episode.approved else "")
        + (" · by capture" if episode.captured else ""),
        " · ".join(name for name in (episode.domain, episode.type, opened.body.session) if name),
        " ".join(f"#{tag}" for tag in episode.tags),
        f"read {number(use.access_count)}×{last} · {number(len(use.referenced_by))} cite it",
        *(cluster_lines(opened.cluster, episode.id) if opened.cluster else ()),
        "" if trace else keyed("It is old, so its trace is folded: {episodes.trace} shows it."),
    ]
    yield f"{episode.id}\n", "bold"
    yield "\n".join(filter(None, facts)), MUTED
    for note in opened.notes:
        yield "\n\nnote ", "bold"
        yield f"{absolute(note.at)}\n", MUTED
        yield note.text, ""
    doc = opened.doc(trace=trace)
    for name in ("task", "execution", "outcome", "reflection"):
        if said := "\n".join(said_lines(doc.get(name))):
            yield f"\n\n{name}\n", "bold"
            yield said, ""


def comparison_of(one: Opened, other: Opened) -> Parts:
    """Yield what two episodes say, part by part; what they have in common is said once."""
    yield f"1  {one.episode.id}\n2  {other.episode.id}", "bold"
    for name, left, right in compared(one.body, other.body):
        yield f"\n\n{name}\n", "bold"
        yield (left, MUTED) if left == right else (f"1  {left or '–'}\n2  {right or '–'}", "")


# Patterns


EDITED = (
    "name", "category", "summary", "description", "detailed_explanation", "applicability", "content", "application",
    "baseline",
)  # fmt: skip
"""What of a pattern is edited: what it says, not what speaks for it."""

SIGNS = {"validated": "●", "candidate": "?", "under_review": "!", "deprecated": "×"}
"""How each status is marked in the list, as elsewhere: “?” waits, “!” is to be looked at; the text
has the word.
"""

WIDE = 56
"""Cells of the list from which on it says how often a pattern was used, and its category."""

LONGEST = 100_000
"""Characters of a pattern that can be edited."""

WEIGHED = {
    "insufficient": "Too few applications in the last 90 days: {0.episodes} of 5.",
    "candidate": "{0.successes} of {0.episodes} succeeded; its confidence {0.confidence:.2f} is not above 0.7 yet.",
    "validated": "{0.successes} of {0.episodes} succeeded, p = {0.p_value:.3g}: enough evidence.",
    "under_review": "{0.successes} of {0.episodes} succeeded, p = {0.p_value:.3g}: not enough evidence.",
}
"""What is said of a pattern after its evidence was weighed, by what it comes to."""


class PatternsDialog(Browse[None, Pattern]):
    """The patterns of a store, the surest first, and all that is known of the one under the cursor."""

    BINDINGS = bindings(PATTERNS)
    EMPTY = (
        "No patterns yet: `workbench pattern add FILE` and `workbench pattern import FILE` add some, and "
        "agents add candidates."
    )

    def __init__(self, bench: Workbench) -> None:
        super().__init__("Patterns", bench, PATTERNS)
        self._wanted = ""
        self.patterns = bench.patterns

    def key_of(self, row: Pattern) -> Hashable:
        return row.id

    def gather(self) -> Callable[[], object]:
        if not self._wanted:
            every = self.patterns.all()
            return lambda: self.listed(every)
        found = self.patterns.find(task_of(self._wanted), None)
        rows = [one.pattern for one in found.matches]
        said = " · ".join(
            f"{one.about.replace('_', ' ')} {one.name}: {one.why}" for one in found.fits
        )
        return lambda: self.listed(rows, said, empty="No pattern in use fits this task.")

    def draw(self, row: Pattern, width: int) -> Sequence[Cell]:
        cells = [
            Cell(SIGNS[row.status], 1),
            Cell(row.name, 0, MUTED if row.status == "deprecated" else "", name="pattern"),
            Cell(f"{row.support.confidence_score:.2f}", 4, "", "right", "conf"),
        ]
        if width < WIDE:
            return cells
        return [
            *cells,
            Cell(f"{row.usage_count:,}×", 6, MUTED, "right", "used"),
            Cell(row.category, 14, MUTED, name="category"),
        ]

    def text_of(self, row: Pattern) -> Content:
        mask, patterns = self.bench.safety.masked, self.patterns
        flagged = [f.reason for held in self.bench.safety.unpermitted([row]) for f in held.findings]
        lines = [f"⚑ {reason}" for reason in dict.fromkeys(flagged)]
        lines += in_full(masked(row, mask), masked(patterns.applications(row.id), mask))
        lines += [
            f"similar: {mask(one.pattern.name)} ({one.score:.0%})"
            for one in patterns.similar(row.id)
        ]
        return body("\n".join(lines))

    # Deciding

    @on_row
    def action_approve(self, pattern: Pattern) -> None:
        """Take a candidate into use, or one that is under review back into it."""
        step = self.patterns.refine if pattern.status == "under_review" else self.patterns.approve
        self.change(lambda: step(pattern.id), f"{pattern.name} is in use.")

    @on_row
    async def action_deprecate(self, pattern: Pattern) -> None:
        """Deprecate the pattern under the cursor for a reason, or restore one that is deprecated."""
        if pattern.status == "deprecated":
            self.change(
                lambda: self.patterns.restore(pattern.id), f"{pattern.name} is a candidate again."
            )
            return

        def missing(reason: str) -> str | None:
            return None if reason else "Give a reason; esc changes nothing."

        title = f"Deprecate {self.bench.safety.masked(pattern.name)}: reason"
        ask = Prompt(
            title, check=missing, take=lambda reason: self.patterns.deprecate(pattern.id, reason)
        )
        await self.ask(ask, f"{pattern.name} is deprecated.")

    @on_row
    def action_weigh(self, pattern: Pattern) -> None:
        """Weigh the applications of the pattern under the cursor."""

        def weigh() -> str:
            (found,) = self.patterns.validate([pattern.id])
            return WEIGHED[found.outlook].format(found.finding)

        self.change(weigh)

    @asking
    async def action_prune(self) -> None:
        """Deprecate the patterns that are worth little, once they were shown."""
        weak, mask = self.patterns.weak(), self.bench.safety.masked
        if not weak:
            self.say("No weak patterns.")
            return
        lines = [f"{mask(one.name)}: {', '.join(why).replace('_', ' ')}" for one, why in weak]
        many = counted(len(weak), "pattern")
        if await sure(self, f"Deprecate {many}?", "\n".join(lines)):
            self.change(
                lambda: self.patterns.prune([one.id for one, _ in weak]), f"{many} deprecated."
            )

    # The pattern, and how it went

    @asking
    async def action_add(self) -> None:
        """Write a new pattern."""
        now = self.bench.context.now()
        patch = await self._patch(
            Pattern("new", "", "strategy", now, now), "New pattern: name and text"
        )
        if patch:
            self.change(lambda: self.patterns.add([patch]), f"{patch.get('name')} is a candidate.")

    @on_row
    async def action_apply(self, pattern: Pattern) -> None:
        """Record how applying the pattern under the cursor went."""

        def wrong(text: str) -> str | None:
            said = text.split(None, 2)[1:2]
            return (
                None
                if said and said[0] in OUTCOMES
                else f"Write an episode, {' or '.join(OUTCOMES)}, and a note."
            )

        def take(text: str) -> None:
            episode, outcome, note = (*text.split(None, 2), "")[:3]
            self.patterns.record(pattern.id, episode, cast(Outcome, outcome), note=note)

        ask = Prompt("Episode, outcome and note", check=wrong, take=take)
        await self.ask(ask, f"Recorded for {pattern.name}.")

    @asking
    async def action_task(self) -> None:
        """List the patterns in use that fit a task, or all again."""
        ask = Prompt("Task (empty: all patterns)", self._wanted)
        text = await self.app.push_screen_wait(ask)
        if text is not None:
            self._wanted = text
            self.read()

    @on_row
    async def action_edit(self, pattern: Pattern) -> None:
        """Edit what the pattern under the cursor says; what cannot be read is named before it is
        saved.
        """
        if patch := await self._patch(pattern, "The pattern"):
            self.change(
                lambda: self.patterns.update(pattern.id, patch), f"{pattern.name} is changed."
            )

    @on_row
    async def action_refine(self, pattern: Pattern) -> None:
        """Edit a pattern that is under review and take it back into use."""
        if pattern.status != "under_review":
            only = "Only a pattern under review is refined; {patterns.edit} edits this one, {patterns.approve} approves"
            self.say(keyed(f"{only} a candidate."))
            return
        patch = await self._patch(pattern, "New text of the pattern; its evidence restarts")
        if patch is not None:
            said = f"{pattern.name} is in use; its evidence restarts."
            self.change(lambda: self.patterns.refine(pattern.id, patch=patch), said)

    async def _patch(self, pattern: Pattern, title: str) -> Mapping[str, object] | None:
        """Return what a person changed of a pattern, perhaps nothing; `None` for a cancelled edit."""
        doc = pattern_doc(pattern)
        text = json.dumps({key: doc[key] for key in EDITED}, indent=2, ensure_ascii=False)
        now = self.bench.context.now()

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

    # Beside others

    @on_row
    async def action_merge(self, one: Pattern) -> None:
        """Merge the pattern under the cursor with another of its category."""
        if (other := await self._other(one, "Merge it with", same=True)) is not None:
            said = f"{one.name} and {other.name} were merged; both are deprecated in favour of the new pattern."
            self.change(lambda: self.patterns.merge([one.id, other.id]), said)

    @on_row
    async def action_supersede(self, one: Pattern) -> None:
        """Deprecate the pattern under the cursor in favour of another."""
        if (other := await self._other(one, "Superseded by")) is not None:
            said = f"{one.name} is superseded by {other.name}."
            self.change(lambda: self.patterns.supersede(one.id, other.id), said)

    @on_row
    async def action_relate(self, one: Pattern) -> None:
        """Say how the pattern under the cursor stands to another, or take that back."""
        choices = [Choice(name, name) for name in RELATIONS]
        relation = await self.app.push_screen_wait(Choose("Relation to another pattern", choices))
        if relation and (other := await self._other(one, f"It {relation}")) is not None:
            known = getattr(one.relationships, relation) or ()
            is_said = other.id in ((known,) if isinstance(known, str) else known)
            said = f"{one.name} {'no longer ' if is_said else ''}{relation} {other.name}."
            to = cast(Relation, relation)
            self.change(lambda: self.patterns.relate(one.id, to, other.id, remove=is_said), said)

    async def _other(self, pattern: Pattern, title: str, *, same: bool = False) -> Pattern | None:
        """Ask for another pattern, those that are like it first; with `same` one of its category."""
        like = {
            one.pattern.id: f"{one.score:.0%} similar" for one in self.patterns.similar(pattern.id)
        }
        others = {
            one.id: one
            for one in sorted(self.patterns.all(), key=lambda one: one.id not in like)
            if one.id != pattern.id
            and one.status != "deprecated"
            and (not same or one.category == pattern.category)
        }
        if not others:
            self.say(
                "No other pattern" + (f" of the category {pattern.category}." if same else ".")
            )
            return None
        choices = [
            Choice(one.id, one.name, like.get(one.id, one.category)) for one in others.values()
        ]
        chosen = await self.app.push_screen_wait(
            Choose(title, choices, shown=self.bench.safety.masked)
        )
        return None if chosen is None else others[chosen]

    @on_row
    def action_copy(self, pattern: Pattern) -> None:
        """Copy the pattern under the cursor as JSON."""
        doc = masked(pattern_doc(pattern), self.bench.safety.masked)
        area_below(self).copy(json.dumps(doc, indent=2, ensure_ascii=False))


def _object(text: str) -> Mapping[str, object] | str:
    """Return the JSON object that a text is, or what is wrong with it."""
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        return f"Line {error.lineno}: not JSON: {error.msg}."
    except RecursionError:
        return "It is nested too deeply."
    return found if isinstance(found, Mapping) else "It is not a JSON object."
