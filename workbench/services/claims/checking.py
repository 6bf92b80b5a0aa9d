"""“Still true?” asked of a working tree: what memories and bullets name that is not there, as proposals.

Nothing is changed by it.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.core.agents.actors import require_person
from workbench.core.claims.gone import Gone, corrected, why
from workbench.core.claims.names import Name, is_checked, names_in
from workbench.core.duplicates.groups import text_mark
from workbench.core.errors import WorkbenchError
from workbench.core.playbook.book import Bullet
from workbench.core.playbook.delta import Delete, Operation, Update
from workbench.core.playbook.operations import THEN, to_json
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.services.claims.history import WORDS, Past
from workbench.services.claims.tree import WorkingTree
from workbench.services.context import Context
from workbench.services.duplicates.plan import WORKBENCH
from workbench.services.files.project import project_of
from workbench.store.git_files import repository_of
from workbench.store.repository import Cancelled, repository_at

KIND = "stale"
RENAMED, GONE = "renamed", "gone"
"""The flags of what has new names, and of what names something that has none."""

Texts = Memory | Bullet


@dataclass(frozen=True, slots=True)
class Stale:
    """A memory or a bullet, what it names that is not there, and the proposal that is made of it."""

    record: Texts
    gone: tuple[Gone, ...]
    proposal: Proposal


@dataclass(frozen=True, slots=True)
class TruePlan:
    """What a check of a working tree found, or put into Review.

    `checked` counts the memories and bullets that name something, `names` what they name. `found` are new, `open` wait
    already, `withdrawn` wait and hold no longer, and `decided` counts what a person decided before and does not change.
    `with_git` tells whether the past was looked at; without it nothing is known of symbols and targets. `is_own`: it is
    the tree that the store belongs to; what another one has says nothing of what waits.
    """

    folder: Path
    checked: int
    names: int
    found: tuple[Stale, ...] = ()
    open: tuple[Proposal, ...] = ()
    withdrawn: tuple[Proposal, ...] = ()
    decided: int = 0
    with_git: bool = True
    is_whole: bool = True
    is_own: bool = True

    @property
    def is_empty(self) -> bool:
        """Whether putting it into Review changes nothing."""
        return not self.found and not self.withdrawn


class StillTrue:
    """Holds what a store's memories and bullets name against a working tree."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._library = context.library

    @property
    def folder(self) -> Path | None:
        """The working tree that the store belongs to, if it belongs to one."""
        return project_of(self._library)

    @property
    def has_past(self) -> bool:
        """Whether the store belongs to a working tree with a repository that can be read."""
        folder = self.folder
        return folder is not None and repository_at(repository_of(folder) or folder) is not None

    def plan(self, folder: Path | None = None, cancelled: Cancelled = lambda: False) -> TruePlan:
        """Return exactly what `carry_out` would do now; it reads only, and starts nothing that the tree names.

        Raises `WorkbenchError` where there is no working tree, or when it was cancelled.
        """
        given = folder or self.folder
        if given is None or not given.is_dir():
            what = f"{given} is no folder" if given else "This store belongs to no project"
            raise WorkbenchError(f"{what}, so there is no working tree to look at.", "Name one; nothing was changed.")
        place = repository_of(given) or given
        texts = {self._key(record): record for record in self._checked()}
        named = {key: names for key, record in texts.items() if (names := names_in(record.content))}
        tree, repository = WorkingTree(place), repository_at(place)
        gone = _gone(tree, {name for names in named.values() for name in names}, cancelled)
        if cancelled():
            raise WorkbenchError("The check was stopped.", "Nothing was proposed.")
        found = []
        for key, names in named.items():
            missing = tuple(replace(gone[_plain(name)], name=name) for name in names if _plain(name) in gone)
            if missing:
                record = texts[key]
                found.append(Stale(record, missing, self._proposal(record, missing)))
        made = TruePlan(
            place,
            len(named),
            sum(map(len, named.values())),
            with_git=repository is not None,
            is_own=self._is_own(place),
        )
        return replace(self._against(made, found), is_whole=tree.is_whole)

    def before_reflection(self, cancelled: Cancelled) -> None:
        """Put what is found into Review where there is a repository; a reflection does without what cannot be told."""
        if self.has_past:
            with suppress(WorkbenchError):
                self.carry_out(self.plan(cancelled=cancelled))

    def _is_own(self, place: Path) -> bool:
        own = self.folder
        return own is not None and (repository_of(own) or own).resolve() == place.resolve()

    def carry_out(self, plan: TruePlan) -> TruePlan:
        """Put what a check found into Review, as one action of the workbench; a tree of its choice no agent puts there.

        Raises `WorkbenchError`.
        """
        if not plan.is_own:
            require_person(self._context.actor, "propose by another working tree")
        if plan.is_empty:
            return plan
        count = len(plan.found)
        with self._library.transaction(self._context.actor, f"still true? {count} found") as tx:
            for proposal in plan.withdrawn:
                tx.delete(proposal)
            for stale in plan.found:
                if self._library.proposals.find(stale.proposal.id) is None:
                    tx.put(stale.proposal)
        return plan

    def _checked(self) -> Iterable[Texts]:
        yield from (memory for memory in self._library.memories.all() if is_checked(memory))
        yield from (bullet for bullet in self._library.bullets.all() if bullet.state == "active")

    def _against(self, plan: TruePlan, found: Sequence[Stale]) -> TruePlan:
        """Return a plan with what was found held against what waits, and what was decided."""
        stored = {p.id: p for p in self._library.proposals.all() if p.id.startswith(f"{KIND}-")}
        waits = [p for p in stored.values() if p.state == "open"]
        here = {stale.proposal.id for stale in found}
        return replace(
            plan,
            found=tuple(stale for stale in found if stale.proposal.id not in stored),
            open=tuple(p for p in waits if p.id in here),
            withdrawn=tuple(p for p in waits if p.id not in here) if plan.is_own else (),
            decided=sum(stored[id].state != "open" for id in here if id in stored),
        )

    def _key(self, record: Texts) -> str:
        return record.id if isinstance(record, Memory) else f"{record.book}/{record.id}"

    def _proposal(self, record: Texts, gone: tuple[Gone, ...]) -> Proposal:
        """Return a finding as a proposal: for a bullet a suggested operation, as a Curator's are."""
        text = corrected(record.content, gone)
        told = " ".join(sorted(f"{one.name.kind}:{one.name.text}:{one.now}" for one in gone))
        id = f"{KIND}-{self._key(record).replace('/', '-')}-{text_mark(record.content + told)[:12]}"
        reasons = tuple(f"{why(one)}" for one in gone)
        flags = tuple(dict.fromkeys(RENAMED if one.now else GONE for one in gone))
        made = Proposal(
            id, KIND, WORKBENCH, record.content.strip().partition("\n")[0][:400], self._context.now(),
            flags=flags, reasons=reasons,
        )  # fmt: skip
        if isinstance(record, Memory):
            renames = {"content": text} if text != record.content else {}
            return replace(
                made, title=record.line, evidence=(record.id,), importance=record.importance_score,
                texts=(text_mark(record.content),), operation=renames,
            )  # fmt: skip
        asked: Operation = Update(record.id, text) if text != record.content else Delete(record.id)
        operation = to_json(asked, record.book, "") | {THEN: {record.id: record.content}}
        return replace(made, kind="curator", operation=operation, flags=())


def _gone(tree: WorkingTree, names: Iterable[Name], cancelled: Cancelled) -> Mapping[Name, Gone]:
    """Return what is not in a tree and was: with git what its past knows, else paths into folders that are there."""
    asked = {_plain(name) for name in names}
    absent = (name for name in asked if name.kind == "path" and not tree.has_ending(name))
    paths = {name for name in absent if not tree.ignores(name.text)}
    repository = repository_at(tree.folder)
    if repository is None:
        return {name: Gone(name) for name in paths if "/" in name.text and tree.has_path(name.text.rpartition("/")[0])}
    missing = tree.without({name.text for name in asked if name.kind in WORDS})
    words = {name for name in asked if name.kind in WORDS and name.text in missing}
    words |= {name for name in asked if name.kind == "target" and not tree.has_target(name.tool, name.text)}
    past = Past(repository, tree, cancelled)
    return {**past.paths(paths), **past.words(words)}


def _plain(name: Name) -> Name:
    """Return a name whatever the way it is written."""
    return replace(name, written=name.text)
