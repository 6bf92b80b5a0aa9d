"""The parameters of a ranking as sliders show them: label, scale, and how a profile gets another value."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Literal, NamedTuple

from textual.content import Content

from workbench.core import record
from workbench.core.runtime import Cancelled
from workbench.core.stream.memory import Memory
from workbench.core.tuning.flips import Flip
from workbench.core.tuning.floor import NoFloor, Standard
from workbench.core.tuning.profile import (
    FACTORS,
    KNOBS,
    WEIGHT_KEYS,
    Factor,
    Knob,
    Profile,
    value_of,
    weight_of,
    with_value,
)
from workbench.core.tuning.scoring import Scored
from workbench.services.safety.safety import Safety
from workbench.services.tuning.floor.against import AgainstFloor
from workbench.services.tuning.session import Settings, Standing, TuningSession
from workbench.tui.safety import FLAGGED
from workbench.tui.safety import STYLE as FLAG_STYLE
from workbench.tui.stream.memory_view import marks_of
from workbench.tui.widgets.bars import Scale, bar_pieces, fill_of
from workbench.tui.widgets.content import MUTED, assemble, clipped, fitted
from workbench.tui.widgets.figures import days, hourly

# What Tune says about the floor: in the lines of the ranking, above it, and in the explanation of a memory.


Said = tuple[str, str, str]
"""A line in the ranking: its text, a longer one, and what the rows below it have in common."""

_NONE: Mapping[NoFloor, tuple[str, ...]] = {
    "off": (),
    "none": ("no floor: no memory can be served", "no floor"),
    "unknown": ("the floor is being computed", "no floor yet"),
}


def nothing_relevant(against: AgainstFloor) -> Said:
    """Return the line over the rows of a query that nothing is relevant to."""
    floor, reach = against.verdict.standard.floor, against.verdict.reach
    assert floor is not None
    assert reach is not None
    best, background = f"{reach.together:.2f}", f"{floor.query:.2f}"
    return (
        f"nothing relevant: best {best}, floor {background}",
        f"nothing is relevant: the best match reaches {best}, the floor is {background}",
        f"Nothing here is relevant to the query: the best match reaches {best}, background questions reach "
        f"{background} here. Nothing is served to an agent.",
    )


def missing(standard: Standard) -> tuple[str, ...]:
    """Return why there is no floor, the longest wording first; nothing where there is one, or it is turned off."""
    return () if standard.why is None else _NONE[standard.why]


def of_memory(against: AgainstFloor, id: str) -> Iterator[Content]:
    """Yield a memory's relevance and what it is made of, and the floor where there is one."""
    floor = against.verdict.standard.floor
    cosine, lexical, known = against.scores_of(id)
    made = f"({cosine:.3f} + {lexical:.3f}) ÷ 2" if known else "words alone"
    below = "" if floor is None else f", weak below {floor.memory:.3f}"
    text = f"relevance {against.relevance(id):.3f} = {made}{below}"
    yield Content.styled(text, "$text-warning" if against.is_weak(id) else MUTED)


def of_query(against: AgainstFloor) -> Iterator[Content]:
    """Yield what the query reaches against the floor, or why there is none."""
    floor, reach = against.verdict.standard.floor, against.verdict.reach
    if floor is None or reach is None:
        for text in missing(against.verdict.standard)[:1]:
            yield Content.styled(f"  {text}", MUTED)
        return
    text = f"  the query reaches {reach.together:.3f}, floor {floor.query:.3f}"
    yield Content.styled(text, "$text-warning" if against.empty else MUTED)


Value = float | None

WEIGHTS, RESULT = "weights", "result"
MACHINE = "time machine"

TIME = "now"
"""The id of the slider that is no part of a profile: the days that `now` is moved by."""

TIME_SCALE = Scale(-180.0, 180.0, 5.0, 1.0)


def weight(value: float) -> str:
    """Return a weight with two decimals, with more where it has more."""
    return f"{value:.2f}" if round(value, 2) == value else f"{value:.4f}".rstrip("0")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One number of a profile; `factor` is set for a weight, `off` says what `None` means.

    A weight's scale is as long as that of the longest weight. `fading` ones count only while recency fades
    with time, `by_word` ones only while full text counts word by word, and what the score of episodes lacks has no
    effect on it.
    """

    id: str
    label: str
    group: str
    about: str
    get: Callable[[Profile], Value]
    put: Callable[[Profile, Value], Profile]
    scale: Scale = field(default_factory=Scale)
    show: Callable[[float], str] = weight
    off: str = ""
    factor: Factor | None = None
    fading: bool = False
    episodes: bool = True
    by_word: bool = False
    talk: bool = False
    default: Value = None

    @property
    def full_label(self) -> str:
        """What it is called where its group is not in sight."""
        return f"half-life {self.label}" if self.fading else self.label

    def share(self, profile: Profile) -> float:
        """Return which part of all weights a weight is."""
        total = sum(weight_of(profile, key) for key in WEIGHT_KEYS)
        return (self.get(profile) or 0.0) / total if total else 0.0

    def scale_for(self, profile: Profile) -> Scale:
        """Return the scale, long enough for the profile's value; the weights share the longest of theirs."""
        values = [weight_of(profile, key) for key in WEIGHT_KEYS] if self.factor else [self.get(profile)]
        most = max((v for v in values if v is not None), default=0.0)
        if most <= self.scale.maximum:
            return self.scale
        # A whole number of steps keeps the grid of the slider.
        return replace(self.scale, maximum=-(-most // 1) * 1.0)

    def text(self, value: Value) -> str:
        """Return a value as the slider shows it."""
        return self.off if value is None else self.show(value)

    def constant(self, value: Value) -> str:
        """Return the hourly factor that a half-life comes to, as the sources print it; empty for other parameters."""
        return hourly(value) if self.show is days and value else ""

    def offered(self, *profiles: Profile) -> bool:
        """Tell whether the slider is of use under one of some profiles: of words one by one, or where it is moved."""
        return not self.talk or any(p.lexical == "absolute" or self.get(p) != self.default for p in profiles)

    def holds(self, profile: Profile) -> str:
        """Return why the parameter has no effect under a profile, or an empty text."""
        if profile.scorer == "episodic" and not self.episodes:
            return "the score of episodes has no such part"
        if self.by_word and profile.lexical != "absolute":
            return "full text counts as BM25"
        if not self.fading or profile.fades:
            return ""
        return "recency is off" if profile.mode == "off" else "recency goes by rank"


def scope_texts(profile: Profile) -> tuple[str, str]:
    """Return whose minimum and maximum make each factor go from 0 to 1, in more words and in fewer."""
    if profile.scope == "top":
        return f"0 to 1 over the {profile.top_n} most relevant", f"over the top {profile.top_n}"
    return (
        ("0 to 1 by frozen bounds", "frozen bounds") if profile.scope == "frozen" else ("0 to 1 over all", "over all")
    )


def day_offset(value: float) -> str:
    """Return how far `now` is moved: "today", "+30 d"."""
    whole = round(value)
    return "today" if not whole else f"{'+' if whole > 0 else '−'}{abs(whole)}\u00a0d"


_LIFE = Scale(1 / 24, 1000.0, 0.1, 0.02, log=True, off=True)


def _get(key: str, default: float | None, profile: Profile) -> Value:
    return value_of(profile, key, default)


def _put(key: str, default: float | None, profile: Profile, value: Value) -> Profile:
    return with_value(profile, key, value, default)


def _put_k(profile: Profile, value: Value) -> Profile:
    return replace(profile, k=round(value or 1))


def _weight(factor: Factor) -> Parameter:
    get, put = partial(_get, factor.weight, 0.0), partial(_put, factor.weight, 0.0)
    return Parameter(
        factor.id, factor.label, WEIGHTS, factor.words, get, put,
        factor=factor, episodes=factor.episodes,
    )  # fmt: skip


def _of_knob(knob: Knob) -> Parameter:
    get, put = partial(_get, knob.key, knob.default), partial(_put, knob.key, knob.default)
    scale = _LIFE if knob.days else Scale(0.0, knob.high, knob.step, knob.fine)
    return Parameter(
        knob.id, knob.label, knob.group, knob.words, get, put, scale, days if knob.days else weight,
        "never" if knob.days else "", fading=knob.fading, episodes=knob.episodes, by_word=knob.by_word,
        talk=knob.talk, default=knob.default,
    )  # fmt: skip


_K = Parameter(
    "k", "k", RESULT, "How many an agent is served.", partial(_get, "k", None), _put_k, Scale(1.0, 50.0, 1.0, 1.0),
    lambda value: f"{value:.0f}",
)  # fmt: skip


PARAMETERS = (*map(_weight, FACTORS), *map(_of_knob, KNOBS), _K)
"""Every parameter that has a slider, in the order of the screen."""

TIME_ABOUT = "As if it were earlier or later."


def slider_label(slider: str, parameters: Sequence[Parameter]) -> str:
    """Return what a slider is called where it stands alone; "the sliders" without one."""
    parameter = next((p for p in parameters if p.id == slider), None)
    if parameter is None:
        return slider or "the sliders"
    return parameter.label if parameter.label == slider else f"{parameter.group}, {parameter.label}"


def slider_text(slider: str, settings: Settings, parameters: Sequence[Parameter]) -> str:
    """Return where a slider stands, as it shows it; "where they stood" for several."""
    if slider == TIME:
        return day_offset(settings.days)
    parameter = next((p for p in parameters if p.id == slider), None)
    return "where they stood" if parameter is None else parameter.text(parameter.get(settings.profile))


# The rows of the live ranking: place, movement, relevance, the bar of the three parts, and the text.


_MOVE, _MIN_BAR, _MAX_BAR = 4, 6, 16


@dataclass(frozen=True, slots=True)
class Heading:
    """A line over rows: its text, a longer one for where there is room, and what the rows below it have in common."""

    text: str
    long: str = ""
    about: str = ""


class Move(NamedTuple):
    """How a row moved: `places` up or down, into or out of the best k, or `to` the place it has in another ranking.

    `joined` is new to the ranking, but not within k; a row that is `hidden` stands in neither.
    """

    kind: Literal["up", "down", "same", "new", "joined", "out", "to", "hidden"]
    places: int = 0

    @property
    def text(self) -> str:
        """The mark of it: ▲2, ▼1, →4, "new", "out", "+", or nothing."""
        return _MARKS[self.kind] + (str(self.places) if self.places else "")

    @property
    def style(self) -> str:
        """The style of its mark: better, worse, or neither."""
        if self.kind in ("up", "new", "joined"):
            return "bold $text-success"
        return "bold $text-warning" if self.kind in ("down", "out") else MUTED


_MARKS = {"up": "▲", "down": "▼", "same": "", "new": "new", "joined": "+", "out": "out", "to": "→", "hidden": ""}


@dataclass(frozen=True, slots=True)
class Row:
    """A memory in the ranking; `served` is whether it is within k, `asked` whether somebody asked for it.

    `share` is the part of the best total that its own is; a `weak` one is below the floor.
    """

    standing: Standing
    served: bool
    relevance: str
    move: Move
    share: float
    asked: bool = False
    weak: bool = False


Line = Row | Heading


def key_of(line: Line) -> tuple[str, str]:
    """Name a line, so that the cursor stays on it."""
    return ("heading", line.text) if isinstance(line, Heading) else ("memory", line.standing.memory.id)


def is_heading(line: Line) -> bool:
    return isinstance(line, Heading)


def lines_of(
    standings: Sequence[Standing], k: int, asked: Standing | None, against: AgainstFloor | None = None
) -> list[Line]:
    """Return the best rows, the one asked for when it is not among the rows, then those below the cut.

    Where nothing is relevant, that stands above them.
    """
    totals = [s.scored.total for s in standings if s.scored]
    full = max(totals, default=0.0) or 1.0
    listed = {s.memory.id for s in standings}
    rows = [
        _row(standing, against, full, k, asked is not None and asked.memory.id == standing.memory.id)
        for standing in standings
    ]
    lines: list[Line] = [Heading(*nothing_relevant(against))] if rows and against is not None and against.empty else []
    lines += rows[:k]
    if asked is not None and asked.memory.id not in listed:
        lines += [Heading("asked for", about="The memory that was asked for."), _row(asked, against, full, k, True)]
    if rows[k:]:
        about = "Ranked, but not served: k is smaller."
        lines += [Heading(f"not served: below the top {k}", about=about), *rows[k:]]
    return lines


def movement(standing: Standing, k: int) -> Move:
    """Return how a row moved against the baseline."""
    place, before = standing.place, standing.before
    if place is None:
        return Move("hidden" if before is None else "out")
    if place <= k and (before is None or before > k):
        return Move("new")
    if before is None:
        return Move("joined")
    if before <= k < place:
        return Move("out")
    return Move("up" if before > place else "down" if before < place else "same", abs(before - place))


def draw(line: Line, width: int, safety: Safety) -> Content:
    """Return one line of the list, exactly `width` cells; what is flagged is marked, and its secrets are masked.

    It is put together as one text with its styles, not cell by cell: a slider step draws every row in sight anew.
    """
    if isinstance(line, Heading):
        text = f"── {line.long if line.long and len(line.long) + 4 <= width else line.text} "
        return fitted(Content.styled(text + "─" * max(0, width - len(text)), MUTED), width)
    scored = line.standing.scored
    room = width - 3 - _MOVE - len(line.relevance) - 4
    bar = max(_MIN_BAR, min(_MAX_BAR, room // 4))
    style = "" if line.served and not line.weak else MUTED
    place = "–" if line.standing.place is None else str(line.standing.place)
    head = [
        (f"{place:>3} ", style),
        (f"{line.move.text:<{_MOVE}} ", line.move.style),
        (f"{line.relevance} ", style),
        *(_bar(scored, bar, line.share) if scored else [(" " * bar, "")]),
        (" ", ""),
    ]
    if room - bar < 1:
        return fitted(assemble(head), width)
    memory = line.standing.memory
    if safety.flags(memory):
        mark = min(2, room - bar)
        head.append((clipped(FLAGGED, mark), FLAG_STYLE))
        bar += mark
    shown = clipped(_words(line, safety.masked(memory.line)), room - bar)
    return assemble([*head, (shown, "bold" if line.asked else style)])


def _words(line: Row, text: str) -> str:
    mark = marks_of(line.standing.memory)
    return ("◂ " if line.asked else "") + ("weak: " if line.weak else "") + (f"{mark} " if mark else "") + text


def legend(width: int, baseline: str) -> Content:
    """Return what the fills of the bars and the marks of movement stand for, as much as fits."""
    pieces: list[tuple[str, str]] = []
    for factor in FACTORS:
        fill, style = fill_of(factor)
        pieces += [(fill * 2, style), (f" {factor.label}  ", MUTED)]
    parts = assemble(pieces)
    moves = assemble([("▲▼ new out", ""), (f" against {baseline}", MUTED)])
    gap = width - parts.cell_length - moves.cell_length
    return parts + Content(" " * gap) + moves if gap >= 0 else fitted(parts, width)


def _row(standing: Standing, against: AgainstFloor | None, full: float, k: int, asked: bool) -> Row:
    served = standing.place is not None and standing.place <= k
    share = standing.scored.total / full if standing.scored else 0.0
    id = standing.memory.id
    if against is None or standing.scored is None:
        return Row(standing, served, "    –", movement(standing, k), share, asked)
    relevance = f"{against.relevance(id):5.3f}"[:5]
    return Row(standing, served, relevance, movement(standing, k), share, asked, served and against.is_weak(id))


def _bar(scored: Scored, width: int, share: float) -> list[tuple[str, str]]:
    """Return the bar of a row, which is filled where the row's share of the best total is 1."""
    parts = scored.weighted
    return bar_pieces(parts, width, sum(parts.values()) / share if share else 1.0)


def memory_of(line: "Line | None") -> Memory | None:
    """Return the memory a line of the ranking shows; a heading shows none."""
    return None if line is None or isinstance(line, Heading) else line.standing.memory


# What takes longer than a frame: where weights swap rows, what a step moves, what brings a memory into the top.


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
