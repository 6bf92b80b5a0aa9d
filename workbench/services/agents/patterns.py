"""The patterns of a store: added, found, applied, validated, and decided upon.

An agent adds candidates and records how applying went; everything that decides is a person's.
"""

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Literal, NamedTuple

from workbench.core.agents.actors import LOW_VALUE, SUPERSEDED, require_person, stands_by
from workbench.core.agents.episodes.episode import Episode, EpisodeBody, read_episode
from workbench.core.agents.patterns import statistics
from workbench.core.agents.patterns.matching import (
    INVERSE,
    USED,
    Fit,
    LeftOut,
    Likeness,
    Match,
    Task,
    Weakness,
    merged,
    related,
    similar,
    weaknesses,
)
from workbench.core.agents.patterns.pattern import (
    Application,
    Baseline,
    Evidence,
    Feature,
    Outcome,
    Pattern,
    Relation,
    Status,
    Tree,
    conditions_of,
)
from workbench.core.agents.patterns.schema import (
    InvalidPattern,
    instantiate,
    pattern_doc,
    pattern_from,
)
from workbench.core.agents.patterns.statistics import WINDOW, Run, Validation, baseline_of, claimed
from workbench.core.files.format import ReadContext
from workbench.core.record import InvalidRecord, UnknownRecord, as_object, moved
from workbench.core.values import cleaned
from workbench.formats import opening
from workbench.formats.episodes import Found as FileEntry
from workbench.formats.patterns import NAME, as_entry, as_pattern, entry_in, written_back
from workbench.retrieval.patterns import PatternIndex
from workbench.services.agents.episodes import Episodes
from workbench.services.context import Changed, Context
from workbench.services.safety.safety import Safety
from workbench.services.safety.secret_filter import IMPORT, SecretFilter, strings
from workbench.services.safety.texts import body_of, name_of
from workbench.store.blobs import BlobProblem
from workbench.store.library import Library, Tx

# How comparable tasks went without a pattern: what its savings are measured against where nobody
# said (004, 3.3).


LEAST = 3
"""Runs from which on something can be said."""

MOST_RUNS = 200
"""Runs that are looked at, the latest."""


Known = dict[str, Run | None]
"""What episodes took, by their hashes: `None` where nothing tells how one ended."""


def baseline_from_episodes(
    context: Context, pattern: Pattern, applied: Sequence[Application], known: Known
) -> Baseline:
    """Return how episodes of the pattern's types and domains went without it; of too few nothing is
    known.

    One that was deleted counts nothing, nor does one that is older than what counts as evidence. A
    pattern that asks for neither a type nor a domain can be compared with nothing. What is looked
    up is kept in `known`.
    """
    where, now = pattern.applicability, context.now()
    types, domains = (
        set(map(str.casefold, names)) for names in (where.problem_types, where.task_features.domain)
    )
    if not types and not domains:
        return Baseline()
    since, support = moved(now, -WINDOW), pattern.support
    with_it = {
        *(one.episode for one in applied),
        *support.supporting_episodes,
        *support.counter_episodes,
    }
    found = [
        one
        for one in context.library.table(Episode).all()
        if one.status != "deleted" and since <= one.at <= now and one.id not in with_it
        and (not types or one.type.casefold() in types) and (not domains or one.domain.casefold() in domains)
    ]  # fmt: skip
    runs = list[Run]()
    for one in sorted(found, key=lambda one: (one.at, one.id), reverse=True)[:MOST_RUNS]:
        if one.hash not in known:
            known[one.hash] = _run(context, one)
        if (run := known[one.hash]) is not None:
            runs.append(run)
    return baseline_of(runs) if len(runs) >= LEAST else Baseline()


def _run(context: Context, episode: Episode) -> Run | None:
    success = episode.outcome == "SUCCESS"
    try:
        body = EpisodeBody(body_of(context.library, episode.hash))
    except BlobProblem:
        return success, None, None
    return (
        None
        if body.is_unproven
        else (success, body.number("execution.duration"), body.number(_COST))
    )


_COST = "execution.resource_usage.cost"


# The way in for a pattern as JSON: read, without secrets, with a name that can be one.


LONGEST_NAME = 200
"""Characters of an id, at the most."""


def entered(
    doc: object,
    now: datetime,
    gate: SecretFilter,
    new_id: Callable[[], str],
    old: Pattern | None = None,
) -> Pattern:
    """Read a pattern that somebody brings; secrets in it are masked, but for those that the `old`
    one has already.

    Raises `InvalidRecord`: for what cannot be read, for an id that is none, for a condition that
    contains a secret.
    """
    before = "" if old is None else "\n".join(strings(pattern_doc(old)))
    pattern = pattern_from(doc, now, "pat-new")
    brings_id = isinstance(doc, Mapping) and any(
        isinstance(doc.get(key), str) for key in ("pattern_id", "id")
    )
    if brings_id:
        checked_name(pattern.id, "pattern")
    for path, text in conditions_of(pattern):
        if SecretFilter().preview(text, before) != text:
            raise InvalidPattern([(path, "contains a secret")])
    clean = cleaned(pattern_doc(pattern), lambda text: gate.cleaned(text, before.__contains__))
    pattern = replace(pattern_from(clean, now), id=pattern.id)
    return pattern if brings_id else replace(pattern, id=new_id())


def apart(pattern: Pattern) -> Pattern:
    """Return what an agent brings as it comes in: a candidate that nothing speaks for yet, whatever
    it says.
    """
    return replace(
        pattern, status="candidate", status_reason="", support=Evidence(), baseline=Baseline(), usage_count=0,
        last_used=None, superseded_by=None, evidence_since=None, edition=1,
    )  # fmt: skip


def checked_name(name: str, what: str) -> str:
    """Return the name of a record; raises `InvalidRecord` for one that is empty, long, not plain,
    or a secret.
    """
    plain = name.strip()
    if (
        not plain
        or len(plain) > LONGEST_NAME
        or not plain.isprintable()
        or any(map(str.isspace, plain))
    ):
        raise InvalidRecord(
            f"The id of the {what} is not valid.", "Nothing was written; use letters and digits."
        )
    if SecretFilter().preview(plain, "") != plain:
        raise InvalidRecord(
            f"The id of the {what} contains a secret.", "Nothing was written; choose another name."
        )
    return plain


# The indexes over the patterns of a store, each kept until a pattern changes.


class PatternIndexes:
    """Makes an index over the patterns that stand in some way, once, and again when one of them
    changed.
    """

    def __init__(self, library: Library) -> None:
        self._library = library
        self._known: dict[frozenset[Status], PatternIndex] = {}

    @cached_property
    def _changed(self) -> Changed:
        return Changed(self._library, "patterns")

    def of(self, statuses: frozenset[Status]) -> PatternIndex:
        """Return the index over the patterns that stand so."""
        if self._changed.take():
            self._known = {}
        found = self._known.get(statuses)
        if found is None:
            found = self._known[statuses] = PatternIndex(
                self._library.table(Pattern).all(), statuses
            )
        return found


# Pattern files on their way in and out.


class ExperienceFile(NamedTuple):
    """What files hold of one kind: those that are new, and the ids of those that are there already.

    `problems` say what cannot be read of `skipped` records; `files` hold them all.
    """

    kind: Literal["episodes", "patterns"]
    name: str
    new: tuple[FileEntry, ...]
    present: tuple[str, ...]
    patterns: tuple[Pattern, ...] = ()
    problems: tuple[str, ...] = ()
    skipped: int = 0
    files: tuple[Path, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """What each new one is, as the files have it: a text that is not masked yet."""
        if self.kind == "patterns":
            return tuple(f"{one.id}  {one.status}  {one.name}" for one in self.patterns)
        bodies = ((one.place, read_episode(one.doc)) for one in self.new)
        return tuple(
            f"{body.id or place}  {body.outcome.lower()}  {body.task}" for place, body in bodies
        )


class PatternIntake:
    def __init__(self, context: Context, gate: SecretFilter) -> None:
        self._context, self._library, self._gate = context, context.library, gate
        self._table = context.library.table(Pattern)

    def plan(self, path: Path) -> ExperienceFile:
        """Read a file of patterns and compare it with the store; writes nothing. Raises
        `UnreadableFile`.
        """
        return self.compared(name_of(Path(path.name)), (), (path,))

    def compared(
        self, name: str, docs: Sequence[FileEntry], entries: Sequence[Path]
    ) -> ExperienceFile:
        """Compare patterns as source 004 has them, and those of `entries`, files of agent-playbook,
        with the store.

        Raises `InvalidRecord` for one of the first that cannot be read, `UnreadableFile` for a
        file.
        """
        made, problems, skipped, now = list[Pattern](), list[str](), 0, self._context.now()
        for one in docs:
            try:
                made.append(claimed(entered(one.doc, now, self._gate, _unnamed)))
            except InvalidRecord as error:
                raise InvalidRecord(f"{one.place}: {error.message}", error.hint) from error
        for path in entries:
            parsed = opening.read_file(
                path, format=NAME, context=ReadContext(now=now, file=name_of(path))
            )
            problems += map(str, parsed.issues)
            skipped += sum(issue.records for issue in parsed.issues)
            for memory in parsed.memories:
                try:
                    pattern = claimed(
                        entered(as_pattern(memory), now, self._gate, partial(str, memory.id))
                    )
                    made.append(replace(pattern, last_updated=pattern.created_at))
                except InvalidRecord as error:
                    problems.append(f"{memory.id}: {error.message}")
                    skipped += 1
        present = dict.fromkeys(one.id for one in made if self._table.find(one.id) is not None)
        new = {one.id: one for one in made if one.id not in present}
        found = tuple(docs), tuple(present), tuple(new.values()), tuple(problems), skipped
        return ExperienceFile("patterns", name, *found)

    def carry_out(self, found: ExperienceFile) -> int:
        """Store what is new in files, as one action; return how many. An agent's word does not do
        for that.
        """
        require_person(self._context.actor, "import patterns")
        if not found.patterns:
            return 0
        label, group = f"import patterns of {found.name}", f"{IMPORT}{uuid.uuid4().hex[:12]}"
        with self._library.transaction(f"import:{found.name}", label, group=group) as tx:
            new = [
                one for one in found.patterns if self._table.find(one.id) is None
            ]  # nobody else put it meanwhile
            for one in new:
                tx.put(one)
        return len(new)

    def written(self, ids: Sequence[str], original: str | None, safety: Safety) -> str:
        """Return agent-playbook's file with patterns as they are now, all in use or waiting where
        none is named.

        What a file has beyond that stays as it is. Raises `UnknownRecord`, `UnreadableFile` for
        another kind of file, `FlaggedText` for a pattern that may not leave the store, and
        `StoreProblem` for a store that is not trusted.
        """
        self._library.require_trust()
        every = [self._table.get(id) for id in ids] if ids else self._table.all()
        chosen = [one for one in every if ids or one.status != "deprecated"]
        safety.require_outgoing(chosen)
        changed = {one.id: as_entry(one) for one in chosen}
        whole = {one.id: {**entry_in(one), **changed[one.id]} for one in chosen}
        return written_back(changed, whole, original)


def _unnamed() -> str:
    raise InvalidRecord("pattern_id: is missing.", "Nothing was written.")


PREFIX = "pat"
"""How the ids of patterns begin."""

MOST = 50_000
"""Patterns of one store."""

NOTHING = "Nothing was changed."


class Found(NamedTuple):
    """The patterns that apply to a task, the best first, and those that do not, each with the first
    reason.

    `fits` are the features that its words gave it.
    """

    task: Task
    matches: tuple[Match, ...]
    left_out: tuple[tuple[Pattern, LeftOut], ...] = ()
    fits: tuple[Fit, ...] = ()


class Patterns:
    """Reads and changes the patterns of a store as the context's actor; `gate` tells what was
    masked.

    `relatives` tells what the words of a text go with in the store.
    """

    def __init__(
        self,
        context: Context,
        gate: SecretFilter,
        indexes: PatternIndexes | None = None,
        relatives: Callable[[str], Iterable[Fit]] = lambda _: (),
    ) -> None:
        self._context = context
        self._library = context.library
        self._gate = gate
        self._table = context.library.table(Pattern)
        self._indexes = indexes or PatternIndexes(context.library)
        self._relatives = relatives
        self._known_runs: Known = {}

    # Looking

    def all(self) -> tuple[Pattern, ...]:
        """Return the patterns, the surest first."""
        return tuple(
            sorted(
                self._table.all(), key=lambda p: (-p.support.confidence_score, -p.usage_count, p.id)
            )
        )

    def get(self, id: str) -> Pattern:
        """Return a pattern; raises `UnknownRecord`."""
        found = self._table.find(id)
        if found is None:
            raise UnknownRecord(
                f"There is no pattern {id} in this store.", "`workbench pattern list` shows them."
            )
        return found

    def applications(self, id: str) -> tuple[Application, ...]:
        """Return the applications of a pattern, the latest first."""
        every = (one for one in self._library.table(Application).all() if one.pattern == id)
        return tuple(sorted(every, key=lambda one: (one.at, one.id), reverse=True))

    def find(
        self,
        task: Task,
        most: int | None = 5,
        *,
        statuses: frozenset[Status] = USED,
        explain: bool = False,
    ) -> Found:
        """Return the patterns that apply to a task.

        Where nobody gave a feature, what its text names counts as one, or else what its words go
        with in the store.
        """
        self._library.refresh()
        index = self._indexes.of(statuses)
        fits = self._fits(index, task)
        names: dict[Feature, frozenset[str]] = {
            about: frozenset(one.name for one in fits if one.about == about)
            for about in ("problem_type", "domain")
        }
        types, domains = (
            task.problem_types or names["problem_type"],
            task.domains or names["domain"],
        )
        task = replace(task, problem_types=types, domains=domains)
        left_out = index.left_out(task) if explain else ()
        return Found(task, index.applicable(task, self._context.now(), most), left_out, fits)

    def _fits(self, index: PatternIndex, task: Task) -> tuple[Fit, ...]:
        missing = [
            about
            for about, given in (("problem_type", task.problem_types), ("domain", task.domains))
            if not given
        ]
        named = index.features_in(task.text)
        fits = [
            Fit(about, name, "the task names it")
            for about in named
            for name in sorted(named[about])
        ]
        if task.text and set(missing) - set(named) and len(self._library.table_named("episodes")):
            fits += [one for one in self._relatives(task.text) if one.about not in named]
        return tuple(one for one in fits if one.about in missing)

    def tree(self) -> Tree:
        """Return the decision tree over the patterns that are in use."""
        return self._indexes.of(USED).tree

    def similar(self, id: str) -> tuple[Likeness, ...]:
        """Return the patterns that resemble one, the most alike first. Raises `UnknownRecord`."""
        return similar(self.get(id), self._table.all())

    def weak(self) -> tuple[tuple[Pattern, tuple[Weakness, ...]], ...]:
        """Return the patterns that are worth little, by id, and why."""
        now = self._context.now()
        every = (
            (pattern, weaknesses(pattern, now))
            for pattern in sorted(self._table.all(), key=lambda one: one.id)
        )
        return tuple((pattern, why) for pattern, why in every if why)

    def filled(self, id: str, values: Mapping[str, object]) -> dict[str, object]:
        """Return the template of a pattern filled in. Raises `UnknownRecord`, `InvalidRecord`,
        `InvalidValues`.
        """
        body = self.get(id).body
        if body is None or body.template is None:
            raise InvalidRecord(
                f"{id} has no template to fill.", "`workbench pattern show` says what it has."
            )
        return instantiate(body.template, values)

    # Adding and changing

    def acting_for(self, context: Context) -> "Patterns":
        """Return the same patterns for another actor, to change them."""
        other = Patterns(context, self._gate, self._indexes, self._relatives)
        other._known_runs = self._known_runs
        return other

    def add(self, docs: Sequence[object]) -> tuple[Pattern, ...]:
        """Add patterns as JSON has them, all or none; return them as they are stored.

        An agent's begin as candidates without evidence. Raises `InvalidRecord` for one that cannot
        be read or whose id is taken.
        """
        label = "add a pattern" if len(docs) == 1 else f"add {len(docs):,} patterns"
        with self._context.transaction(label) as tx:
            made = [self.put(tx, doc) for doc in docs]
            if len(made) == 1:
                tx.relabel(f"add the pattern {made[0].id}")
        return tuple(self._table.get(pattern.id) for pattern in made)

    def put(self, tx: Tx, doc: object) -> Pattern:
        """Add one in an open transaction, as `add` does; raises `InvalidRecord`."""
        if len(self._table) >= MOST:
            raise InvalidRecord(f"The store already has {MOST:,} patterns.", NOTHING)
        now = self._context.now()
        pattern = entered(doc, now, self._gate, lambda: tx.new_id(Pattern, PREFIX, now))
        if self._table.find(pattern.id) is not None:
            raise InvalidRecord(
                f"Pattern {pattern.id} already exists.",
                f"{NOTHING} `workbench pattern edit` changes it.",
            )
        if not stands_by(self._context.actor):
            pattern = apart(pattern)
        tx.put(pattern)
        return pattern

    def update(self, id: str, patch: Mapping[str, object], *, whole: bool = False) -> Pattern:
        """Give fields of a pattern other values, as a JSON merge patch: `null` takes one away; it
        counts as an edition.

        With `whole` a field of the patch takes the place of all that the field held, nested parts
        included. Where it stands, what speaks for it and how often it was used stay. Raises
        `InvalidRecord`, `UnknownRecord`.
        """
        now, label = self._context.now(), f"edit the pattern {id}"
        with self._context.transaction(label, by_person="change a pattern") as tx:
            old = self.get(id)
            doc = {**pattern_doc(old), **patch} if whole else _patched(pattern_doc(old), patch)
            new = entered({**doc, "pattern_id": id}, now, self._gate, lambda: id, old)
            kept = {name: getattr(old, name) for name in _NOT_EDITED}
            new = replace(new, **kept)
            if new != old:
                tx.put(replace(new, edition=old.edition + 1, last_updated=now))
        return self.get(id)

    def record(
        self, id: str, episode: str, outcome: Outcome, *,
        task: str = "", note: str = "", time: float | None = None, cost: float | None = None,
    ) -> Application:  # fmt: skip
        """Record that a pattern was applied in an episode, and how that went; said again, the last
        word counts.

        Raises `UnknownRecord`, or `InvalidRecord` for a name that is none.
        """
        context, now = self._context, self._context.now()
        name = checked_name(episode, "episode")
        with context.transaction(f"record how {id} went") as tx:
            pattern = self.get(id)
            if name in self._library.table_named("episodes"):
                Episodes(context).refer(tx, [name], id)
            one = Application(
                f"{id}/{name}", id, name, outcome, now, self._gate.cleaned(task, lambda _: False),
                self._gate.cleaned(note, lambda _: False), time, cost, context.actor,
            )  # fmt: skip
            before = self._library.table(Application).find(one.id)
            again = before is not None and before.counts
            tx.put(one)
            tx.put(replace(pattern, usage_count=pattern.usage_count + (not again), last_used=now))
        return one

    # Evidence

    def validations(self, ids: Sequence[str] = ()) -> tuple[Validation, ...]:
        """Return what validating these patterns, or all, would come to; writes nothing. Raises
        `UnknownRecord`.
        """
        rows = dict[str, list[Application]]()
        for one in self._library.table(Application).all():
            rows.setdefault(one.pattern, []).append(one)
        chosen = [self.get(id) for id in ids] if ids else self._table.all()
        now = self._context.now()
        done = [self._validated(pattern, rows.get(pattern.id, ()), now) for pattern in chosen]
        return tuple(sorted(done, key=lambda one: one.before.id))

    def _validated(
        self, pattern: Pattern, rows: Sequence[Application], now: datetime
    ) -> Validation:
        """Validate a pattern; where nobody says how tasks went without it, episodes do."""
        found = statistics.validated(pattern, rows, now)
        if pattern.baseline.runs or found.outlook == "insufficient":
            return found
        measured = replace(
            pattern, baseline=baseline_from_episodes(self._context, pattern, rows, self._known_runs)
        )
        again = statistics.validated(measured, rows, now)
        return replace(again, before=pattern, after=replace(again.after, baseline=pattern.baseline))

    def validate(self, ids: Sequence[str] = ()) -> tuple[Validation, ...]:
        """Hold patterns against their applications, as one action; return what came of it. Raises
        as `validations`.
        """
        with self._context.transaction(
            _label("validate", ids), by_person="validate patterns"
        ) as tx:
            done = self.validations(ids)
            for one in done:
                if one.after != one.before:
                    tx.put(one.after)
        return done

    # Decisions

    def approve(self, id: str, reason: str = "") -> Pattern:
        """Take a candidate into use on a person's word."""
        return self._decide(
            id, "approve", lambda pattern: statistics.approved(pattern, self._said(reason))
        )

    def refine(
        self, id: str, reason: str = "", patch: Mapping[str, object] | None = None
    ) -> Pattern:
        """Take one that is under review back into use, changed by a `patch` (`update`); its
        evidence begins anew.
        """
        now = self._context.now()
        with self._context.transaction(f"refine the pattern {id}"):
            if patch:
                self.update(id, patch)
            return self._decide(
                id, "refine", lambda pattern: statistics.refined(pattern, now, self._said(reason))
            )

    def deprecate(self, id: str, reason: str) -> Pattern:
        """Take a pattern out of use for good, for a reason."""
        return self._decide(
            id, "deprecate", lambda pattern: statistics.deprecated(pattern, self._said(reason))
        )

    def restore(self, id: str) -> Pattern:
        """Make a deprecated pattern a candidate again."""
        return self._decide(id, "restore", statistics.restored)

    def supersede(self, id: str, by: str, reason: str = "") -> Pattern:
        """Deprecate a pattern in favour of another one. Raises `UnknownRecord` when there is no
        such one.
        """
        why = self._said(reason) or SUPERSEDED
        self.get(by)
        return self._decide(
            id, "supersede", lambda pattern: statistics.deprecated(pattern, why, by)
        )

    def merge(self, ids: Sequence[str]) -> Pattern:
        """Make one pattern of several, with the applications of all; they are deprecated in its
        favour.
        """
        with self._context.transaction(_label("merge", ids), by_person="merge patterns") as tx:
            new = self.put_merged(tx, ids)
        return self.get(new.id)

    def put_merged(self, tx: Tx, ids: Sequence[str]) -> Pattern:
        """Make one pattern of several in an open transaction, as `merge` does, and raise what it
        raises.
        """
        now = self._context.now()
        patterns = [self.get(id) for id in dict.fromkeys(ids)]
        new = merged(patterns, tx.new_id(Pattern, PREFIX, now), now)
        tx.put(new)
        latest = {
            one.episode: one
            for pattern in patterns
            for one in reversed(self.applications(pattern.id))
        }
        for one in latest.values():
            tx.put(replace(one, id=f"{new.id}/{one.episode}", pattern=new.id))
        for pattern in patterns:
            tx.put(statistics.deprecated(pattern, new.status_reason, new.id))
        return new

    def relate(self, id: str, relation: Relation, other: str, *, remove: bool = False) -> None:
        """Say how a pattern stands to another one, on both of them. Raises `UnknownRecord`,
        `InvalidRecord`.
        """
        if id == other:
            raise InvalidRecord(f"{id} is the pattern itself.", NOTHING)
        label = f"relate {id} and {other}"
        with self._context.transaction(label, by_person="relate patterns") as tx:
            tx.put(related(self.get(id), relation, other, remove=remove))
            tx.put(related(self.get(other), INVERSE[relation], id, remove=remove))

    def prune(self, ids: Sequence[str]) -> tuple[Pattern, ...]:
        """Deprecate patterns that are worth little, as one action. Raises `InvalidRecord` for one
        that is not weak.
        """
        weak, label = {pattern.id for pattern, _ in self.weak()}, _label("deprecate", ids)
        with self._context.transaction(label, by_person="deprecate patterns") as tx:
            for id in ids:
                if id not in weak:
                    raise InvalidRecord(f"{self.get(id).id} is not a weak pattern.", NOTHING)
                tx.put(statistics.deprecated(self.get(id), LOW_VALUE))
        return tuple(map(self.get, ids))

    def _decide(self, id: str, verb: str, step: Callable[[Pattern], Pattern]) -> Pattern:
        with self._context.transaction(
            f"{verb} the pattern {id}", by_person=f"{verb} a pattern"
        ) as tx:
            tx.put(step(self.get(id)))
        return self.get(id)

    def _said(self, reason: str) -> str:
        return self._gate.cleaned(reason.strip()[:500], lambda _: False)


_NOT_EDITED = (
    "created_at", "status", "status_reason", "usage_count", "last_used", "superseded_by", "evidence_since", "support",
    "edition", "last_updated",
)  # fmt: skip


def _label(verb: str, ids: Sequence[str]) -> str:
    if not ids:
        return f"{verb} all patterns"
    return f"{verb} the pattern {ids[0]}" if len(ids) == 1 else f"{verb} {len(ids):,} patterns"


def _patched(doc: Mapping[str, object], patch: Mapping[str, object]) -> dict[str, object]:
    """Return a JSON object with a merge patch applied (RFC 7386)."""
    made = dict(doc)
    for key, value in patch.items():
        if isinstance(value, Mapping):
            made[key] = _patched(as_object(made.get(key)), value)
        elif value is None:
            made.pop(key, None)
        else:
            made[key] = value
    return made
