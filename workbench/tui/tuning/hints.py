"""What takes longer than a frame: where weights swap rows, what a step moves, what brings a memory into the top."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from workbench.core import record
from workbench.core.tuning.factors import Factor
from workbench.core.tuning.flips import Flip
from workbench.services.tuning.session import TuningSession
from workbench.tui.tuning.parameters import PARAMETERS, TIME_SCALE, Parameter, weight

Cancelled = Callable[[], bool]
"""Tells whether nobody waits any more."""


@dataclass(frozen=True, slots=True)
class WayIn:
    """One parameter's value that would bring a memory into the top, and the value it has now."""

    label: str
    then: str
    now: str


@dataclass(frozen=True, slots=True)
class Hints:
    """What takes longer than a frame: where weights swap rows, what a step moves, what brings `memory` in."""

    flips: Mapping[Factor, tuple[Flip, ...] | None]
    steps: str
    memory: str
    ways: tuple[WayIn, ...]


def hints_of(
    session: TuningSession,
    parameter: Parameter | None,
    highs: Mapping[Factor, float],
    memory: str,
    cancelled: Cancelled = lambda: False,
) -> Hints | None:
    """Work out the hints for a slider (`None`: `now`) and a memory; `None` when it was cancelled.

    `highs` are the ends of the weights' scales. Is asked between the parts whether to go on, the quick ones first.
    """
    steps = "" if parameter and parameter.factor else steps_of(session, parameter)
    found: dict[Factor, tuple[Flip, ...] | None] = {}
    for factor, high in highs.items():
        if cancelled():
            return None
        found[factor] = session.flips(factor, high)
    if cancelled():
        return None
    entering = ways(session, memory) if memory else ()
    return None if cancelled() else Hints(found, steps, memory, entering)


def steps_of(session: TuningSession, parameter: Parameter | None) -> str:
    """Return how many of the top would change one step to either side of a parameter (`None`: `now`)."""
    if session.question is None or session.ranking is None or not session.ranking.ids:
        return ""
    here = session.days if parameter is None else parameter.get(session.profile)
    scale = TIME_SCALE if parameter is None else parameter.scale_for(session.profile)
    texts = []
    for arrow, direction in (("←", -1), ("→", 1)):
        there = scale.moved(here, direction)
        if there == here:
            continue
        profile = session.profile if parameter is None else parameter.put(session.profile, there)
        now = record.moved(session.asked_at, timedelta(days=there or 0.0)) if parameter is None else session.now
        moved = session.question.moved(session.ranking, profile, now)
        texts.append(f"{arrow} {moved or 'none'} of {session.profile.k} {'moves' if moved == 1 else 'move'}")
    return " · ".join(texts)


def ways(session: TuningSession, id: str) -> tuple[WayIn, ...]:
    """Return the weights that would bring a memory into the top, the smallest change first."""
    if session.question is None or session.ranking is None:
        return ()
    highs = [p.scale_for(session.profile).maximum for p in PARAMETERS if p.factor]
    found = session.question.ways(session.ranking, id, highs)
    return tuple(WayIn(way.factor.label, weight(way.then), weight(way.now)) for way in found)


def other_ways(session: TuningSession, id: str, cancelled: Cancelled) -> tuple[WayIn, ...]:
    """Try every step of the parameters that are no weights; takes some hundred rankings."""
    found: list[tuple[int, WayIn]] = []
    for parameter in PARAMETERS:
        offered = not parameter.factor and parameter.offered(session.profile, session.saved)
        if offered and not parameter.holds(session.profile):
            found += (hit for d in (-1, 1) if (hit := _first(session, parameter, d, id, cancelled)))
    return tuple(way for _, way in sorted(found, key=lambda hit: hit[0]))


def _first(
    session: TuningSession, parameter: Parameter, direction: int, id: str, cancelled: Cancelled
) -> tuple[int, WayIn] | None:
    """Return the first step to one side that brings a memory into the top, and how many steps it takes."""
    scale, here = parameter.scale_for(session.profile), parameter.get(session.profile)
    value, steps = here, 0
    while session.question and not cancelled() and (there := scale.moved(value, direction)) != value:
        value, steps = there, steps + 1
        profile = parameter.put(session.profile, value)
        place = session.question.rank(profile, session.now, 1).place_of(id)
        if place is not None and place <= profile.k:
            return steps, WayIn(parameter.full_label, parameter.text(value), parameter.text(here))
    return None
