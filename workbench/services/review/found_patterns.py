"""Patterns that recur in episodes."""

import math
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b

from workbench.core.agents.actors import MERGED
from workbench.core.agents.episodes.episode import Episode, EpisodeBody
from workbench.core.agents.patterns.duplicates import Likeness, PatternGroup, pattern_groups
from workbench.core.agents.patterns.pattern import Pattern
from workbench.core.agents.patterns.statistics import SUPPORT, Mined, Run, approved, features_of, mined
from workbench.core.duplicates.groups import text_mark
from workbench.core.record import WorkbenchError
from workbench.core.review.proposal import Proposal
from workbench.core.runtime import Cancelled
from workbench.core.text import counted, one_line
from workbench.safety.scanning import scan
from workbench.services.agents.patterns import Patterns
from workbench.services.context import Context
from workbench.services.duplicates.plan import WORKBENCH
from workbench.services.review.finders import Finder, Parts
from workbench.services.review.kinds import Handler
from workbench.services.safety.bodies import body_of
from workbench.services.safety.secret_filter import SecretFilter
from workbench.services.safety.suspicion import FLAGS
from workbench.store.blobs import BlobProblem
from workbench.store.library import Tx

MINED = "mined"
"""The key of a pattern's metadata that says what it was made of."""

MOST = 2_000
"""Episodes that are looked at, the latest ones."""

_SHOWN = 12
_CELLS = 200


def _find(parts: Parts, cancelled: Cancelled) -> tuple[Proposal, ...]:
    return recurring(parts.context, cancelled)


def recurring(context: Context, cancelled: Cancelled) -> tuple[Proposal, ...]:
    """Return the patterns that recur in the latest episodes and are not among the patterns, as proposals."""
    living = [one for one in context.library.table(Episode).all() if one.status != "deleted"]
    if len(living) < SUPPORT:
        return ()
    living.sort(key=lambda one: (one.at, one.id), reverse=True)
    bodies: dict[str, EpisodeBody] = {}
    for episode in living[:MOST]:
        if cancelled():
            return ()
        try:
            bodies[episode.id] = EpisodeBody(body_of(context.library, episode.hash))
        except BlobProblem:
            continue  # the doctor names it
    proven = (one for one in living[:MOST] if one.id in bodies and not bodies[one.id].is_unproven)
    runs = [_run(one, bodies[one.id]) for one in proven]
    known = {pattern.metadata.get(MINED) for pattern in context.library.table(Pattern).all()}
    return tuple(_proposal(context, one, bodies) for one in mined(runs) if _key(one) not in known)


def _run(episode: Episode, body: EpisodeBody) -> Run:
    features = features_of(body.texts("metadata.strategies_applied"), body.texts("metadata.tools_used"))
    return Run(episode.id, episode.domain, episode.type, episode.outcome == "SUCCESS", features)


def _proposal(context: Context, one: Mined, bodies: Mapping[str, EpisodeBody]) -> Proposal:
    doc = _doc(one)
    texts = (str(doc["name"]), str(doc["description"]))
    kinds = {finding.kind for text in texts for finding in scan(text)}
    name = blake2b(_key(one).encode("utf-8", "replace"), digest_size=8).hexdigest()
    # Asked again once there is twice as much to go by.
    occasion = int(math.log2(one.support / SUPPORT))
    shown = [(id, "✓") for id in one.good] + [(id, "✗") for id in one.bad]
    episodes = [[sign, id, one_line(bodies[id].task[: 2 * _CELLS], _CELLS)] for id, sign in shown[:_SHOWN]]
    return Proposal(
        f"pattern-{name}-{occasion}", "pattern", WORKBENCH, f"{doc['name']}: {_numbers(one)}", context.now(),
        flags=tuple(word for kind, word in FLAGS.items() if kind in kinds), importance=10 * (1 - one.p_value) - 2,
        reasons=(f"Fisher's exact test: p = {one.p_value:.2g}, corrected over {counted(one.compared, 'comparison')}",),
        operation={"pattern": doc, "episodes": episodes, "more": max(0, len(shown) - _SHOWN)},
    )  # fmt: skip


def _doc(one: Mined) -> dict[str, object]:
    """Return the pattern as JSON (source 004, section 3.3)."""
    holds, against = (one.good, one.bad) if one.helps else (one.bad, one.good)
    what = one.feature.text
    said = f"Episodes with it: {_numbers(one)} it, in {_place(one)}."
    return {
        "name": one_line(f"{what} in {_place(one)}" if one.helps else f"{what} fails in {_place(one)}", 120),
        "category": one.category,
        "description": f"{what}. {said}",
        "applicability": {
            "problem_types": [one.type] if one.type else [],
            "task_features": {"domain": [one.domain] if one.domain else []},
        },
        "content": {"type": "strategy", "strategy": {"approach": what if one.helps else f"Without {what}"}},
        "evidence": {
            "supporting_episodes": list(holds), "counter_episodes": list(against), "mined_from": [*holds, *against],
            "statistical_significance": one.p_value,
        },
        "metadata": {MINED: _key(one)},
    }  # fmt: skip


def _numbers(one: Mined) -> str:
    return f"{len(one.good)} of {one.support} succeeded, {one.others_good} of {one.others} without"


def _place(one: Mined) -> str:
    return "/".join(part for part in (one.domain, one.type) if part)


def _key(one: Mined) -> str:
    return " | ".join((one.domain, one.type, one.feature.kind, one.feature.text))


MINING = Finder(_find)


# Patterns that say the same, as merges that nobody made yet.


MERGES = "pattern-merge"

_LINE = 300


def _find_pattern_merges(parts: Parts, cancelled: Cancelled) -> tuple[Proposal, ...]:
    del cancelled
    return merges(parts.context, parts.context.library.table(Pattern).all())


def merges(context: Context, patterns: Iterable[Pattern]) -> tuple[Proposal, ...]:
    """Return what merging the patterns that say the same would ask, a proposal for each group, decided or not."""
    return tuple(_pattern_merge(context, group) for group in pattern_groups(patterns))


def marks_of(patterns: Sequence[Pattern]) -> tuple[str, ...]:
    """Return what tells the texts of patterns: an answer holds as long as these are the same."""
    return tuple(text_mark(pattern.content) for pattern in patterns)


def _pattern_merge(context: Context, group: PatternGroup) -> Proposal:
    patterns = group.patterns
    ids, texts = [one.id for one in patterns], marks_of(patterns)
    name = blake2b("\n".join((*ids, *texts)).encode("utf-8", "replace"), digest_size=8).hexdigest()
    return Proposal(
        f"{MERGES}-{name}", MERGES, WORKBENCH, one_line(group.stands.name, _LINE), context.now(), texts=texts,
        importance=10 * max(one.score for one in group.others) - 3,
        reasons=tuple(map(_likeness, group.others)),
        operation={"patterns": ids, "lines": [_pattern_line(one) for one in patterns]},
    )  # fmt: skip


def _likeness(one: Likeness) -> str:
    parts = ", ".join(f"{name} {part:.0%}" for name, part in one.parts.items())
    return f"{one.pattern.id} is {one.score:.0%} alike: {parts}"


def _pattern_line(one: Pattern) -> str:
    where = f"{one.category}, {one.status.replace('_', ' ')}, {one.usage_count:,}× used"
    return one_line(f"{one.id}: {one.name[:_LINE]} — {one.line[: 2 * _LINE]} ({where})", 3 * _LINE)


PATTERNS = Finder(_find_pattern_merges)


# Patterns: one that recurs in episodes is taken over, several that say the same become one.


class MinedPattern(Handler):
    """Its operation has the pattern as JSON; it becomes a candidate with the episodes that speak for it."""

    def apply(self, tx: Tx, proposal: Proposal) -> None:
        """Add the pattern, or what came with a proposal of another making."""
        doc = _pattern(proposal)
        if doc is None:
            super().apply(tx, proposal)
        else:
            Patterns(self._context, SecretFilter()).put(tx, doc)


class PatternMerge(Handler):
    """Its operation names the patterns, the one whose words stay first; its `texts` are marks of what they said.

    What becomes of them is in use where that one is.
    """

    def apply(self, tx: Tx, proposal: Proposal) -> None:
        """Make one pattern of them. Raises `WorkbenchError` when one changed since, or went out of use."""
        standing = self._standing(proposal)
        merged = Patterns(self._context, SecretFilter()).put_merged(tx, [one.id for one in standing])
        if standing[0].status == "validated" and merged.status == "candidate":
            # Its words were in use, and a person stands by that the others say no more.
            tx.put(approved(merged, MERGED))

    def _standing(self, proposal: Proposal) -> list[Pattern]:
        """Return the patterns that a proposal names. Raises `WorkbenchError` when one is not as it was."""
        named = proposal.operation.get("patterns")
        ids = [str(id) for id in named] if isinstance(named, list | tuple) else []
        found = [one for one in map(self._library.table(Pattern).find, ids) if one is not None]
        standing = [one for one in found if one.status != "deprecated"]
        if len(standing) < len(ids) or marks_of(standing) != proposal.texts:
            raise WorkbenchError(
                "These patterns changed since the question was asked.", "Reject it; nothing was changed."
            )
        return standing


class PatternChanges(PatternMerge):
    """Its operation says which `change` of its patterns an agent asks for, and the `patch` of an update."""

    def apply(self, tx: Tx, proposal: Proposal) -> None:
        """Make the change. Raises `WorkbenchError` when one changed since, or it is not possible."""
        patterns, ids = Patterns(self._context, SecretFilter()), [one.id for one in self._standing(proposal)]
        patch, reason = proposal.operation.get("patch"), "; ".join(proposal.reasons) or proposal.actor
        match proposal.operation.get("change"):
            case "update":
                patterns.update(ids[0], patch if isinstance(patch, Mapping) else {})
            case "supersede":
                patterns.supersede(ids[0], ids[1], reason)
            case "merge":
                patterns.put_merged(tx, ids)
            case "prune":
                patterns.prune(ids)
            case _:
                for id in ids:
                    patterns.deprecate(id, reason)


def _pattern(proposal: Proposal) -> Mapping[str, object] | None:
    doc = proposal.operation.get("pattern")
    return doc if isinstance(doc, Mapping) else None
