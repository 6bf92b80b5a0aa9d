"""The playbook: bullets are voted on, edited, moved and exported here."""

import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from workbench.core.playbook import operations
from workbench.core.playbook.book import Book, Bullet, Playbook, Section, section_key
from workbench.core.playbook.budget import Costs, Fitting, costs, fit
from workbench.core.playbook.filter import NOBODY, Among, BookFilter
from workbench.core.playbook.usage import BulletUsage, Run, UsageTally, disagrees, usages
from workbench.core.record import Conflict, InvalidRecord, UnknownRecord, iso, parse_time, without
from workbench.core.stream.memory import Verdict, vote_id
from workbench.core.text import clean_for_store, named
from workbench.safety.secrets import mask
from workbench.services.context import Context
from workbench.store.library import Library, Tx

if TYPE_CHECKING:
    from workbench.services.stream.votes import VoteResult

# Who changed a bullet last: a short look back into the journal, remembered between looks.


LOOK_BACK = 2000
"""Transactions that are looked at when nothing is known yet; the history looks at all."""


class LastChange(NamedTuple):
    """The latest transaction that touched a bullet."""

    at: datetime
    actor: str
    label: str


class LastChanges:
    """Finds the latest change of a bullet; every transaction is looked at once. Any thread may ask."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._seen = 0
        self._known: dict[str, LastChange] = {}
        self._guard = threading.Lock()

    @property
    def begun(self) -> bool:
        """Whether it has looked back already: from then on an answer takes no longer than what is
        new.
        """
        return self._seen > 0

    def of(self, book: str, id: str) -> LastChange | None:
        """Return a bullet's latest change, or `None` when it lies further back than this looks."""
        self.catch_up()
        doc = self._library.bullets.doc_id_of(f"{book}/{id}")
        return None if doc is None else self._known.get(doc)

    def catch_up(self) -> None:
        """Look at every transaction that is new."""
        with self._guard:
            self._catch_up()

    def _catch_up(self) -> None:
        rev = self._library.revision
        if rev == self._seen:
            return
        newer: dict[str, LastChange] = {}
        for looked_at, entry in enumerate(self._library.changes_back()):
            if entry.rev <= self._seen or looked_at == LOOK_BACK:
                break
            for change in entry.changes:
                if change.table == "bullets" and change.doc not in newer:
                    newer[change.doc] = LastChange(parse_time(entry.at), entry.actor, entry.label)
        self._known = self._known | newer
        self._seen = rev


# What runs tell about the bullets of a playbook: logs that were read in, and what they say now.


class Usages:
    """The usage of bullets over all logs of their playbook; worked out again only when something
    changed.
    """

    def __init__(self, library: Library) -> None:
        self._library = library
        self._known: dict[str, tuple[object, Mapping[str, BulletUsage]]] = {}

    def of(self, playbook: Playbook) -> Mapping[str, BulletUsage]:
        """Return the usage of every bullet that some run used, by id; empty without logs."""
        book = playbook.book.id
        tallies = [tally for tally in self._library.tallies.all() if tally.book == book]
        if not tallies:
            return {}
        names = {alias: b.id for b in playbook.bullets for alias in b.aliases}
        ids = [b.id for b in playbook.bullets]
        state = (tuple(tallies), names, ids)
        before = self._known.get(book)
        if before is not None and before[0] == state:
            return before[1]
        runs = [run for tally in tallies for run in tally.runs()]
        found = {told.bullet: told for told in usages(runs, ids, names) if told.used.runs}
        self._known[book] = (state, found)
        return found


def books_of(bullets: Iterable[Bullet], named: Iterable[str]) -> dict[str, int]:
    """Return the books that know most of the bullets named, and how many of those; empty when none
    knows any.

    Ids are unique within a book only, so that several may know as many.
    """
    wanted = frozenset(named)
    known: dict[str, set[str]] = {}
    for bullet in bullets:
        for name in wanted.intersection((bullet.id, *bullet.aliases)):
            known.setdefault(bullet.book, set()).add(name)
    most = max((len(names) for names in known.values()), default=0)
    return {book: len(names) for book, names in known.items() if len(names) == most}


def named_in(runs: Iterable[Run]) -> frozenset[str]:
    """Return the ids of all bullets that runs used."""
    return frozenset(id for run in runs for id in run.bullets)


def counted(tallies: Sequence[UsageTally]) -> int:
    """Return how many runs some tallies hold."""
    return sum(tally.count for tally in tallies)


REASON, REPLACED_BY, SINCE, WARNS_OF = (
    "deprecated_because",
    "replaced_by",
    "deprecated_at",
    "warns_of",
)
"""Metadata keys of a deprecated bullet, and of the warning that was made of one."""

AVOID = "AVOID: "
PITFALLS = "COMMON MISTAKES TO AVOID"
_WARNINGS = frozenset(
    {
        "common_mistakes_to_avoid",
        "common_mistakes_and_correct_strategies",
        "troubleshooting_and_pitfalls",
    }
)

MAIN = "main"


class BookLine(NamedTuple):
    """One of the store's playbooks, with its number of bullets."""

    book: Book
    bullets: int


@dataclass(frozen=True, slots=True)
class BookView:
    """A playbook as it is shown, with this actor's live votes by bullet id.

    `cut` says what fits the budget, `None` without a budget or when everything fits.
    `usage` is what runs tell about each bullet that any run used.
    """

    playbook: Playbook
    votes: Mapping[str, Verdict]
    costs: Costs
    cut: Fitting | None = None
    usage: Mapping[str, BulletUsage] = field(default_factory=dict)

    @property
    def tokens(self) -> int:
        """The estimated tokens of all that is not deprecated."""
        return self.costs.total

    @property
    def over(self) -> frozenset[str]:
        """The ids of the bullets that do not fit the budget."""
        return frozenset(self.cut.outside) if self.cut else frozenset()

    @property
    def affordable(self) -> Playbook:
        """The playbook as far as the budget goes; all of it without a budget."""
        if self.cut is None:
            return self.playbook
        used = {bullet.section for bullet in self.cut.kept}
        sections = tuple(section for section in self.playbook.sections if section.id in used)
        return replace(self.playbook, sections=sections, bullets=self.cut.kept)

    @property
    def disputed(self) -> frozenset[str]:
        """The ids of the bullets whose votes and runs contradict each other."""
        found = ((b, self.usage.get(b.id)) for b in self.playbook.bullets)
        return frozenset(
            b.id for b, told in found if told and disagrees(told, b.helpful_count, b.harmful_count)
        )

    def found_to(self, verdict: str) -> frozenset[str]:
        """Return the ids of the bullets of which runs say that: `helps`, `hurts` or `unclear`."""
        return frozenset(id for id, told in self.usage.items() if told.verdict == verdict)

    def listed(
        self, wanted: BookFilter, among: Among = NOBODY
    ) -> tuple[tuple[Section, tuple[Bullet, ...]], ...]:
        """Return the sections with their bullets, in file order; under a filter only those with a
        match.
        """
        members: dict[str, list[Bullet]] = {s.id: [] for s in self.playbook.sections}
        titles = {s.id: s for s in self.playbook.sections}
        for bullet in self.playbook.bullets:
            if not wanted or wanted.matches(bullet, titles[bullet.section], among):
                members[bullet.section].append(bullet)
        return tuple(
            (titles[id], tuple(found)) for id, found in members.items() if found or not wanted
        )


class Playbooks:
    """The playbooks of a store and what a person does with their bullets."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._library = context.library
        self.changes = LastChanges(context.library)
        self._usages = Usages(context.library)

    def books(self) -> tuple[BookLine, ...]:
        """Return the store's playbooks, by name."""
        bullets = self._library.bullets.all()
        lines = (
            BookLine(book, sum(b.book == book.id for b in bullets))
            for book in self._library.books.all()
        )
        return tuple(sorted(lines, key=lambda line: (line.book.name, line.book.id)))

    def open(self, book: str) -> Playbook:
        """Return a playbook in file order; raises `UnknownRecord`."""
        sections = [s for s in self._library.sections.all() if s.book == book]
        sections.sort(key=lambda s: (s.order, s.id))
        place = {s.id: i for i, s in enumerate(sections)}
        bullets = [b for b in self._library.bullets.all() if b.book == book and b.section in place]
        bullets.sort(key=lambda b: (place[b.section], b.order, b.id))
        return Playbook(self._library.books.get(book), tuple(sections), tuple(bullets))

    def view(self, book: str) -> BookView:
        """Return a playbook with what is shown besides it; raises `UnknownRecord`."""
        playbook = self.open(book)
        voter = self._context.voter
        names = {vote_id("bullets", f"{book}/{b.id}", voter): b.id for b in playbook.bullets}
        mine = {names[vote.id]: vote.verdict for vote in self._library.votes.among(names)}
        found_costs, budget = costs(playbook), playbook.book.budget
        cut = fit(playbook, budget) if 0 < budget < found_costs.total else None
        return BookView(playbook, mine, found_costs, cut, self._usages.of(playbook))

    def vote(self, book: str, ids: Sequence[str], verdict: Verdict) -> "VoteResult":
        """Vote on one bullet, or on several; the same vote again on a single one takes it back."""
        from workbench.services.stream.votes import vote_on

        return vote_on(self._context, [self.bullet(book, id) for id in ids], verdict)

    def live_vote(self, book: str, id: str) -> str:
        """Return this actor's live vote on a bullet, or an empty text."""
        return self._context.live_vote("bullets", f"{book}/{id}")

    def edit(
        self,
        book: str,
        id: str,
        content: str | None = None,
        *,
        section: str | None = None,
        expected: str | None = None,
    ) -> None:
        """Give a bullet another text, another section, at whose end it stands then, or both.

        Raises `Conflict` when its text no longer is the `expected` one.
        """
        with self._context.transaction(f"edit {id}"):
            if expected is not None and self.bullet(book, id).content != expected:
                raise Conflict(
                    f"{id} was changed by someone else meanwhile.", "Nothing was written."
                )
            ops: list[operations.Operation] = []
            if content is not None:
                ops.append(operations.Update(id, self.edited(book, id, content)[1].content))
            if section is not None:
                ops.append(operations.Move(id, section, None))
            self.apply(book, f"edit {id}", *ops)

    def edited(self, book: str, id: str, content: str) -> tuple[Bullet, Bullet]:
        """Return a bullet as it is and as it would be with another text; raises `UnknownRecord`."""
        bullet = self.bullet(book, id)
        text = bullet.content if content == bullet.content else clean_text(content)
        return bullet, bullet if text == bullet.content else replace(bullet, content=text, raw=None)

    def add(self, book: str, section: str, content: str) -> str:
        """Add a bullet at the end of a section and return its new id."""
        before = {b.id for b in self.open(book).bullets}
        after = self.apply(
            book, f"add a bullet to {section}", operations.Add(section, clean_text(content))
        )
        return next(b.id for b in after.bullets if b.id not in before)

    def add_to_new_section(self, book: str, title: str, content: str) -> str:
        """Add a bullet in a section that is made for it, and the playbook too if need be; return
        the bullet's id.
        """
        title = mask(title)  # the section's id is made of it
        with self._context.transaction(f"add a bullet to {title}"):
            self.ensure(book)
            after = self.apply(
                book, f"add a bullet to {title}", operations.CreateMeta(title, clean_text(content))
            )
        return after.in_section(operations.find_section(after, title).id)[-1].id

    def delete(self, book: str, ids: Sequence[str]) -> None:
        """Delete bullets and the votes on them; the other lines of the file stay as they are."""
        label = f"delete {named(ids, 'bullets')}"
        gone = {f"{book}/{id}" for id in ids}
        with self._context.transaction(label) as tx:
            self.apply(book, label, *(operations.Delete(id) for id in ids))
            delete_votes(tx, self._library, gone)

    def move(
        self, book: str, ids: Sequence[str], section: str, position: int | None = None
    ) -> None:
        """Move bullets to the end of a section, or to `position` (from 0) in it; they keep their
        ids.
        """
        label = f"move {named(ids, 'bullets')} to {section}"
        places = range(position, position + len(ids)) if position is not None else [None] * len(ids)
        moves = (operations.Move(id, section, place) for id, place in zip(ids, places, strict=True))
        self.apply(book, label, *moves)

    def shift(self, book: str, id: str, step: int) -> bool:
        """Move a bullet up (−1) or down (+1) within its section; return whether there was room."""
        playbook = self.open(book)
        bullet = operations.find_bullet(playbook, id)
        siblings = [b.id for b in playbook.in_section(bullet.section)]
        place = siblings.index(bullet.id)
        if not 0 <= place + step < len(siblings):
            return False
        siblings.insert(place + step, siblings.pop(place))
        self.apply(book, f"reorder {id}", operations.Reorder(bullet.section, tuple(siblings)))
        return True

    def pin(self, book: str, ids: Sequence[str], pinned: bool | None = None) -> bool:
        """Pin or unpin bullets; without `pinned` they are unpinned when all are pinned. Return the
        new state.
        """
        if pinned is None:
            pinned = not all(bullet.pinned for bullet in [self.bullet(book, id) for id in ids])
        with self._context.transaction(
            f"{'pin' if pinned else 'unpin'} {named(ids, 'bullets')}"
        ) as tx:
            for id in ids:
                tx.put(replace(self.bullet(book, id), pinned=pinned))
        return pinned

    def add_section(self, book: str, title: str, *, kept: bool = False) -> str:
        """Add an empty section at the end and return its id; a first one makes the playbook itself.

        `kept`: a secret in the title stays as it was typed, if the transaction lets it; the id
        never holds one.
        """
        typed = " ".join(title.split()).lstrip("#").strip()
        title = mask(title)  # the id is made of it
        with self._context.transaction(f"add section {title}") as tx:
            if book in self._library.books:
                before = self.open(book)
            else:
                before = Playbook(Book(book, name=book))
                tx.put(before.book)
            after = operations.apply(before, operations.CreateMeta(title), self._context.now())
            if kept:
                after = replace(
                    after, sections=(*after.sections[:-1], replace(after.sections[-1], title=typed))
                )
            write_book(tx, before, after)
        return after.sections[-1].id

    def set_budget(self, book: str, tokens: int) -> None:
        """Set how many tokens a playbook may take; 0 takes the limit away."""
        with self._context.transaction(f"budget of {book}: {tokens or 'none'}") as tx:
            tx.put(replace(self._library.books.get(book), budget=tokens))

    def ensure(self, book: str = MAIN) -> None:
        """Make an empty playbook unless it exists."""
        if book not in self._library.books:
            with self._context.transaction(f"new playbook {book}") as tx:
                tx.put(Book(book, name=book))

    def apply(self, book: str, label: str, *ops: operations.Operation) -> Playbook:
        """Apply operations as one transaction, and return the playbook after it.

        When one is impossible it raises, and nothing is changed.
        """
        with self._context.transaction(label) as tx:
            before = after = self.open(book)
            for op in ops:
                after = operations.apply(after, op, self._context.now())
            write_book(tx, before, after)
        return after

    def bullet(self, book: str, id: str) -> Bullet:
        """Return a bullet; raises `UnknownRecord`."""
        found = self._library.bullets.find(f"{book}/{id}")
        if found is None:
            raise UnknownRecord(
                f"There is no bullet {id} in the playbook any more.", "Nothing was changed."
            )
        return found

    # Letting go of a rule without losing it

    def deprecate(
        self, book: str, ids: Sequence[str], reason: str = "", replacement: str = ""
    ) -> None:
        """Take bullets out of what is exported; they stay in the store with the reason and what
        replaces them.

        Raises `UnknownRecord` for a replacement that is not there, `InvalidRecord` for one that
        replaces itself.
        """
        self._check_replacement(book, ids, replacement)
        with self._context.transaction(f"deprecate {named(ids, 'bullets')}") as tx:
            for id in ids:
                tx.put(self._deprecated(self.bullet(book, id), reason, replacement))

    def fit(self, book: str, ids: Sequence[str], budget: int) -> None:
        """Deprecate the bullets that do not fit a budget of tokens, as one action."""
        self.deprecate(book, ids, f"beyond the budget of {budget:,} tokens")

    def restore(self, book: str, ids: Sequence[str]) -> None:
        """Make deprecated bullets count again."""
        with self._context.transaction(f"restore {named(ids, 'bullets')}") as tx:
            for id in ids:
                bullet = self.bullet(book, id)
                metadata = without(bullet.metadata, REASON, REPLACED_BY, SINCE)
                tx.put(replace(bullet, state="active", metadata=metadata))

    def all_deprecated(self, book: str, ids: Sequence[str]) -> bool:
        """Tell whether all of these are deprecated, so that the next step is to restore them."""
        return all(self.bullet(book, id).state == "deprecated" for id in ids)

    def avoid(
        self, book: str, ids: Sequence[str], content: str = "", section: str = ""
    ) -> tuple[str, ...]:
        """Deprecate harmful rules and add a warning of each, as one action; return the warnings'
        ids.

        `content` is the warning (default: the rule's text after “AVOID:”), `section` where it goes:
        by default a section of pitfalls, which is made when there is none.
        """
        made, what = list[str](), "a warning" if len(ids) == 1 else "warnings"
        with self._context.transaction(f"turn {named(ids, 'bullets')} into {what}") as tx:
            before = after = self.open(book)
            for id in ids:
                after, warning = self._avoided(after, self.bullet(book, id), content, section)
                made.append(warning)
            write_book(tx, before, after)
        return tuple(made)

    def warns_in(self, book: str) -> str:
        """Return the heading under which a warning goes unless another one is named."""
        sections = self.open(book).sections
        return next((s.title for s in sections if s.key in _WARNINGS), PITFALLS)

    def _avoided(
        self, before: Playbook, rule: Bullet, content: str, section: str
    ) -> tuple[Playbook, str]:
        """Return a playbook with a warning in the place of a rule, and the warning's id."""
        text = clean_for_store(content).strip() or warning_of(rule.content)
        after, place = self._place(before, section)
        after = operations.apply(after, operations.Add(place, text), self._context.now())
        known = {b.id for b in before.bullets}
        warning = next(b for b in after.bullets if b.id not in known)
        marked = replace(warning, metadata={**warning.metadata, WARNS_OF: rule.id})
        here = next(b for b in after.bullets if b.id == rule.id)
        gone = self._deprecated(here, "harmful: turned into a warning", warning.id)
        changed = {warning.id: marked, rule.id: gone}
        return replace(
            after, bullets=tuple(changed.get(b.id, b) for b in after.bullets)
        ), warning.id

    def _place(self, playbook: Playbook, section: str) -> tuple[Playbook, str]:
        if section:
            return playbook, operations.find_section(playbook, section).id
        known = next((s.id for s in playbook.sections if s.key in _WARNINGS), None)
        if known is not None:
            return playbook, known
        made = operations.apply(playbook, operations.CreateMeta(PITFALLS), self._context.now())
        return made, next(s.id for s in made.sections if s.key == section_key(PITFALLS))

    def _deprecated(self, bullet: Bullet, reason: str, replacement: str) -> Bullet:
        notes: dict[str, object] = {SINCE: iso(self._context.now())}
        if reason.strip():
            notes[REASON] = clean_for_store(reason).strip()
        if replacement:
            notes[REPLACED_BY] = replacement
        return replace(bullet, state="deprecated", metadata={**bullet.metadata, **notes})

    def _check_replacement(self, book: str, ids: Sequence[str], replacement: str) -> None:
        if not replacement:
            return
        if replacement in ids:
            raise InvalidRecord(f"{replacement} cannot replace itself.", "Nothing was changed.")
        try:
            other = self.bullet(book, replacement)
        except UnknownRecord as error:
            raise UnknownRecord(
                f"There is no bullet {replacement} to replace it.", "Nothing was changed."
            ) from error
        if other.state == "deprecated":
            raise InvalidRecord(f"{replacement} is deprecated itself.", "Nothing was changed.")


def delete_votes(tx: Tx, library: Library, gone: Collection[str]) -> None:
    """Delete the votes on bullets that are gone: a later one may be given the number of one."""
    for vote in library.votes.all() if gone else ():
        if vote.table == "bullets" and vote.target in gone:
            tx.delete(vote)


def shown_title(section: Section) -> str:
    """Return a section's title as it may be shown: without its secrets."""
    return mask(section.title)


def write_book(tx: Tx, before: Playbook, after: Playbook) -> None:
    """Write only the records in which two states of a playbook differ."""
    if after.book != before.book:
        tx.put(after.book)
    pairs: tuple[tuple[Sequence[Section | Bullet], Sequence[Section | Bullet]], ...] = (
        (before.sections, after.sections),
        (before.bullets, after.bullets),
    )
    for old, new in pairs:
        known = {r.id: r for r in old}
        for record in new:
            if known.get(record.id) != record:
                tx.put(record)
        kept = {r.id for r in new}
        for record in old:
            if record.id not in kept:
                tx.delete(record)


def clean_text(content: str) -> str:
    return clean_for_store(content).strip()


def warning_of(rule: str) -> str:
    """Return a rule's text as a warning of it."""
    return rule if rule.startswith(AVOID) else AVOID + rule
