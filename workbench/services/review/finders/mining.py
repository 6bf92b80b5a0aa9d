"""Patterns that recur in episodes."""

import math
from collections.abc import Mapping
from hashlib import blake2b

from workbench.core.agents.episodes.episode import Episode, EpisodeBody
from workbench.core.agents.patterns.mining import SUPPORT, Mined, Run, features_of, mined
from workbench.core.agents.patterns.pattern import Pattern
from workbench.core.review.proposal import Proposal
from workbench.core.runtime import Cancelled
from workbench.core.text import counted, one_line
from workbench.safety.scanning import scan
from workbench.services.context import Context
from workbench.services.duplicates.plan import WORKBENCH
from workbench.services.review.finders.finder import Finder, Parts
from workbench.services.safety.bodies import body_of
from workbench.services.safety.suspicion import FLAGS
from workbench.store.blobs import BlobProblem

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
