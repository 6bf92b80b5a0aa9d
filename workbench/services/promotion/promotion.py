"""Promotion: what is confirmed graduates to a playbook, to files that agents read, or to a skill.

Source 001, section 3. The text and the differences are shown first (`plan`); `carry_out` writes exactly that, the
record and the files together. Undo takes back both (see `placing`).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from workbench.core.agents.actors import OWN_TERMINAL, stands_by
from workbench.core.playbook import operations
from workbench.core.promotion import Placement
from workbench.core.record import AlreadyPromoted, Conflict, WorkbenchError
from workbench.core.review import lifecycle
from workbench.core.review.kinds import kind_of
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.formats import managed_block
from workbench.services.context import Context
from workbench.services.playbook.playbook import Playbooks
from workbench.services.promotion.placement_files import decoded, read
from workbench.services.promotion.placements import Placing
from workbench.services.promotion.targets import (
    SKILL_FOLDER,
    ChangedMeanwhile,
    Drafts,
    Offer,
    PromotionPlan,
    Target,
    brings_in,
    memory_folder,
    texts_of,
)
from workbench.services.safety.provenance import provenances
from workbench.services.safety.safety import FlaggedText, Held, Safety

# The places that suggest themselves for a promotion, with what is there now.


USUAL_FILES = ("CLAUDE.md", "AGENTS.md")
"""The files that agents read at the start, in the project's folder."""


def offers(placing: Placing, playbooks: Playbooks) -> tuple[Offer, ...]:
    """Return the usual files, memory files and skills, then every section of every playbook."""
    return (*_files(placing), *_sections(playbooks))


def _files(placing: Placing) -> Iterator[Offer]:
    project = placing.places.project
    if project is None:
        return
    yield from _usual(placing)
    folder = memory_folder(placing.places)
    yield Offer(Target("memory"), "memory file", "" if folder == "." else f"{folder}/")
    own = claude_memory(project)
    if own is not None:
        yield Offer(Target("memory", str(own)), "memory file of Claude Code", "outside the project")
    yield Offer(Target("skill"), "skill", f"{SKILL_FOLDER}/")


def _usual(placing: Placing) -> Iterator[Offer]:
    """Yield the usual files; one that another leads to by a link, or brings in, is the one place for both."""
    texts = {name: next(iter(texts_of(placing.places.named(Path(name)), placing.places).items()), (name, ""))
             for name in _there(placing)}  # fmt: skip
    leads = {
        (name, other)
        for name, (real, text) in texts.items()
        for other in texts
        if other != name and (real == other or brings_in(text, other))
    }
    for name in USUAL_FILES:
        if any(one == name and (other, one) not in leads for one, other in leads):
            continue
        from_others = [one for one, other in leads if other == name]
        said = [_state(placing, name), *(f"{one} leads to it" for one in from_others)]
        yield Offer(Target("block", name), name, ", ".join(part for part in said if part))


def _there(placing: Placing) -> Iterator[str]:
    """Yield the names of the usual files that can be read."""
    for name in USUAL_FILES:
        try:
            if read(placing.places.named(Path(name)).path) is not None:
                yield name
        except WorkbenchError:
            continue


def claude_memory(project: Path) -> Path | None:
    """Return the folder in which Claude Code keeps its own memory of a project, if there is one."""
    try:
        folder = Path.home() / ".claude/projects" / re.sub(r"[^A-Za-z0-9]", "-", str(project)) / "memory"
        return folder if folder.is_dir() else None
    except (OSError, RuntimeError):
        return None


def _state(placing: Placing, name: str) -> str:
    """Say what a file holds already; what is wrong with it is said when it is chosen."""
    try:
        data = read(placing.places.named(Path(name)).path)
        block = managed_block.find(decoded(data, name)[0]) if data is not None else None
    except WorkbenchError:
        return ""
    if data is None:
        return "a new file"
    count = len(block.entries) if block else 0
    return "1 entry" if count == 1 else f"{count} entries" if count else "no entries yet"


def _sections(playbooks: Playbooks) -> Iterator[Offer]:
    lines = playbooks.books()
    for line in lines:
        book = playbooks.open(line.book.id)
        for section in book.sections:
            count = len(book.in_section(section.id))
            bullets = "1 bullet" if count == 1 else f"{count} bullets"
            name = f"{line.book.name} › " if len(lines) > 1 else "playbook › "
            where = f"{book.book.id}/{section.id}"
            yield Offer(Target("playbook", where), f"{name}{section.title or section.key or '(no title)'}", bullets)


UNCHANGED = "Nothing was changed."
_TO_MOVE = "To move it, take that back first: `workbench history {id}` lists it, `workbench undo --rev REV` does it."


class Promotion:
    """Plans promotions and carries them out."""

    def __init__(self, context: Context, playbooks: Callable[[], Playbooks], safety: Safety, placing: Placing) -> None:
        self._context = context
        self._library = context.library
        self._playbooks = playbooks
        self._safety = safety
        self._placing = placing

    @property
    def project(self) -> Path | None:
        """The folder of the project that the store belongs to, if it belongs to one."""
        return self._placing.places.project

    @property
    def is_scratch(self) -> bool:
        """Whether that project is the demo's, to try things on."""
        return self._placing.places.is_scratch

    @property
    def usual_files(self) -> tuple[str, ...]:
        """The files that agents read, as one knows them."""
        return USUAL_FILES

    def offers(self) -> tuple[Offer, ...]:
        """Return the places that suggest themselves, with what is there now."""
        return offers(self._placing, self._playbooks())

    def plan(self, ids: Sequence[str], target: Target) -> PromotionPlan:
        """Return what promoting memories to a place would write; writes nothing.

        Raises `UnknownRecord`, `EditedBlock` for a managed block that was changed by hand, and `WorkbenchError` for
        a memory that cannot be promoted or a place that cannot be written.
        """
        memories = tuple(self._library.memories.get(id) for id in dict.fromkeys(ids))
        if not memories:
            raise WorkbenchError("Name at least one memory to promote.", UNCHANGED)
        now = self._context.now()
        mask = str if target.kept else self._safety.masked
        target = replace(target, title=mask(target.title), about=mask(target.about))
        for memory in memories:
            self._promoted(memory, "somewhere")
        found = Drafts(self._placing, self._playbooks, now, self._safety.masked).of(memories, target)
        new = {placement.id: placement for placement in found.placements}
        files = self._placing.planned(new)
        promoted = tuple(self._promoted(m, to) for m, to in zip(memories, found.to, strict=True))
        outside = tuple(dict.fromkeys(p.path for p in found.placements if p.outside))
        flagged = (*self._flagged(memories), *self._typed(memories[0], target))
        warnings = (*found.warnings, *files.remarks)
        return PromotionPlan(
            target, memories, promoted, found.placements, files, found.book, outside, flagged, warnings, found.sizes
        )

    def carry_out(
        self,
        plan: PromotionPlan,
        *,
        outside: bool = False,
        allow: str | None = None,
        reason: str = "",
        keep: Iterable[str] = (),
    ) -> str:
        """Write what a plan shows and mark the memories as promoted, as one action; return what was done.

        `outside` is the person's yes to files outside the project; `allow`, a reason (or an empty text), lets
        flagged texts pass; `reason` goes into the history; `keep` are texts whose secrets stay as a person typed them.
        Raises `FlaggedText`, and `Conflict` when a file or
        memory was changed since the plan; nothing is written then.
        """
        if plan.outside and not outside:
            raise WorkbenchError(
                f"{plan.outside[0]} lies outside the project.", "Nothing was written without confirmation."
            )
        if plan.flagged and allow is None:
            raise FlaggedText(plan.flagged)
        self._require_word(plan)
        named = plan.ids[0] if len(plan.ids) == 1 else f"{len(plan.ids)} memories"
        label = f"promote {named} to {', '.join(plan.to[:2])}{' and more' if len(plan.to) > 2 else ''}"
        label += f": {reason}" if reason else ""
        with self._placing.guarded() as follow, self._library.transaction(self._context.actor, label) as tx:
            self._require_unchanged(plan)
            self._safety.keep_typed(*keep)
            for held in (held for held in plan.flagged if not held.typed):
                self._safety.allow(held.id, allow or "")
            for record in (*plan.promoted, *self._stamped(plan), *self._answered(plan)):
                tx.put(record)
            self._add_bullets(plan)
            follow()
        return label

    def _require_word(self, plan: PromotionPlan) -> None:
        """Raise unless a person acts here, or stood by every text before: files that agents read hold nothing else."""
        if stands_by(self._context.actor):
            return
        known = provenances(self._context, plan.memories)
        if doubtful := next((id for id in plan.ids if not known[id].approved), ""):
            raise WorkbenchError(
                f"No human has written or approved {doubtful}.", f"Nothing was written; {OWN_TERMINAL}"
            )

    def _require_unchanged(self, plan: PromotionPlan) -> None:
        try:
            fresh = self.plan(plan.ids, plan.target)
        except Conflict:
            raise
        except WorkbenchError as error:
            raise ChangedMeanwhile(f"It can no longer be promoted: {error.message}", error.hint) from error
        if not fresh.same_as(plan):
            what = next((edit.name for edit in fresh.files.edits if edit not in plan.files.edits), "What is promoted")
            raise Conflict(f"{what} was changed meanwhile.", "Nothing was written; look again.")

    def _promoted(self, memory: Memory, to: str) -> Memory:
        """Return a memory as promoted; one that nobody confirmed is approved on the way."""
        if memory.status in ("signal", "candidate"):
            memory = lifecycle.approve(memory, self._context.now(), self._context.settings.lifecycle)
        if memory.status == "promoted":
            where = memory.promoted_to or "another place"
            raise AlreadyPromoted(f"{memory.id} was promoted to {where} already.", _TO_MOVE.format(id=memory.id))
        return lifecycle.promote(memory, to)

    def _stamped(self, plan: PromotionPlan) -> list[Placement]:
        now = self._context.now()
        return [replace(placement, created_at=now) for placement in plan.placements]

    def _answered(self, plan: PromotionPlan) -> list[Proposal]:
        """Return the open proposals about these memories that a promotion settles, as settled."""
        about = set(plan.ids)
        waiting = (
            p for p in self._library.proposals.all() if p.state == "open" and kind_of(p.kind).settled_by_promotion
        )
        settled = [p for p in waiting if p.evidence[:1] and p.evidence[0] in about]
        return [replace(p, state="accepted", decided_at=self._context.now()) for p in settled]

    def _add_bullets(self, plan: PromotionPlan) -> None:
        """Add bullets to the playbook, which joins the transaction that is open."""
        if plan.book is not None:
            adds = (operations.Add(plan.book.section, content) for content in plan.book.contents)
            self._playbooks().apply(plan.book.book, "promote", *adds)

    def _flagged(self, memories: Sequence[Memory]) -> tuple[Held, ...]:
        """Return the memories whose text should not travel; that it came in by import is no excuse here."""
        return self._safety.unpermitted(memories)

    def _typed(self, memory: Memory, target: Target) -> tuple[Held, ...]:
        """Return what the title and the description hold that a person typed for a promotion."""
        held = self._safety.check_typed(memory, [text for text in (target.title, target.about) if text])
        return () if held is None else (held,)
