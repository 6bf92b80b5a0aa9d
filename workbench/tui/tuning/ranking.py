"""The live ranking: the rows, what stands above and below them, and the verdict over all judged
queries.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from workbench.core.stream.memory import Memory
from workbench.core.text import counted, one_line, printable
from workbench.core.tuning.autotune import Verdict, signed
from workbench.core.tuning.floor import NoFloor, Standard
from workbench.core.tuning.profile import FACTORS
from workbench.core.words import only_stop_words
from workbench.services.tuning.evaluation import Compared
from workbench.services.tuning.session import Standing, TuningSession
from workbench.tui.safety import FLAGGED
from workbench.tui.safety import STYLE as FLAG_STYLE
from workbench.tui.stream.memory_view import marks_of
from workbench.tui.tuning.sliders import day_offset
from workbench.tui.widgets.bars import bar_pieces, fill_of
from workbench.tui.widgets.content import MUTED, assemble, clipped, fitted, key_of, muted
from workbench.tui.widgets.figures import FixedText, absolute, number, whole_words
from workbench.tui.widgets.line_list import MARKED, LineView

BETTER, WORSE = "bold $text-success", "bold $text-warning"


@dataclass(frozen=True, slots=True)
class Heading:
    """A line over rows, and what the rows below it have in common."""

    text: str
    about: str


@dataclass(frozen=True, slots=True)
class Row:
    """A memory in the ranking; `asked` is the one that somebody asked for, a `weak` one is below
    the floor, a `marked` one is to be compared with another.

    `move` is its mark of movement with the style, `share` the part of the best total that its own
    is.
    """

    standing: Standing
    served: bool
    relevance: str
    move: tuple[str, str]
    share: float
    asked: bool = False
    weak: bool = False
    marked: bool = False


Line = Row | Heading


def key_of_line(line: Line) -> tuple[str, str]:
    """Name a line, so that the cursor stays on it."""
    return (
        ("heading", line.text) if isinstance(line, Heading) else ("memory", line.standing.memory.id)
    )


def memory_of(line: Line | None) -> Memory | None:
    return line.standing.memory if isinstance(line, Row) else None


def lines_of(session: TuningSession) -> list[Line]:
    """Return the best rows, the one asked for when it is not among the rows, then those that are
    not served.

    Where nothing is relevant, that stands above them.
    """
    standings, k, against = session.standings(), session.profile.k, session.against
    full = max((s.scored.total for s in standings if s.scored), default=0.0) or 1.0

    def row(standing: Standing) -> Row:
        id, scored = standing.memory.id, standing.scored
        served, asked = standing.place is not None and standing.place <= k, id == session.watched
        relevance, weak = "    –", False
        if against is not None and scored is not None:
            relevance, weak = f"{against.relevance(id):5.3f}", served and against.is_weak(id)
        share = scored.total / full if scored else 0.0
        marked = id in session.marked
        return Row(standing, served, relevance, movement(standing, k), share, asked, weak, marked)

    rows = list(map(row, standings))
    lines: list[Line] = []
    if rows and against is not None and against.empty:
        reach, floor = against.verdict.reach, against.verdict.standard.floor
        assert reach is not None
        assert floor is not None
        figures = f"best {reach.together:.2f}, floor {floor.query:.2f}"
        about = f"Nothing here is relevant to the query: {figures}. Nothing is served to an agent."
        lines.append(Heading(f"nothing relevant: {figures}", about))
    lines += rows[:k]
    watched = session.standing(session.watched)
    if watched is not None and not any(row.asked for row in rows):
        lines += [Heading("asked for", "The memory that was asked for."), row(watched)]
    if rows[k:]:
        lines += [
            Heading(f"not served: below the top {k}", "Ranked, but not served: k is smaller."),
            *rows[k:],
        ]
    return lines


def movement(standing: Standing, k: int) -> tuple[str, str]:
    """Return how a row moved against the baseline (▲2, ▼1, new, out, "+" for new but not served),
    and its style.
    """
    place, before = standing.place, standing.before
    if place is None:
        return ("out", WORSE) if before is not None else ("", MUTED)
    if place <= k and (before is None or before > k):
        return "new", BETTER
    if before is None:
        return "+", BETTER
    if before <= k < place:
        return "out", WORSE
    if before == place:
        return "", MUTED
    return (f"▲{before - place}", BETTER) if before > place else (f"▼{place - before}", WORSE)


def draw(line: Line, width: int, memory: Memory | None, flagged: bool) -> Content:
    """Return one line of the list, exactly `width` cells; `memory` is the row's as it may be shown.

    It is put together as one text with its styles, not cell by cell: a slider step draws every row
    in sight anew.
    """
    if isinstance(line, Heading) or memory is None:
        text = f"── {line.text if isinstance(line, Heading) else ''} "
        return fitted(muted(text + "─" * max(0, width - len(text))), width)
    scored, place = line.standing.scored, line.standing.place
    room, bar = width - 16, bar_cells(width)
    style = "" if line.served and not line.weak else MUTED
    head = [
        (f"{'–' if place is None else place:>3} ", style),
        (f"{line.move[0]:<4} ", line.move[1]),
        (f"{line.relevance} ", style),
    ]
    if scored:
        head += bar_pieces(
            scored.weighted, bar, sum(scored.weighted.values()) / line.share if line.share else 1.0
        )
    else:
        head.append((" " * bar, ""))
    head.append((" ", ""))
    if flagged:
        head.append((FLAGGED + " ", FLAG_STYLE))
        bar += 2
    mark = marks_of(memory)
    text = (
        ("◂ " if line.asked else "")
        + (f"{MARKED} " if line.marked else "")
        + ("weak: " if line.weak else "")
        + (f"{mark} " if mark else "")
        + memory.line
    )
    stands_out = line.asked or line.marked
    head.append((clipped(text, max(0, room - bar)), "bold" if stands_out else style))
    return fitted(assemble(head), width)


def bar_cells(width: int) -> int:
    """Return how wide the bar of a score is in a line."""
    return max(6, min(16, (width - 16) // 4))


_NO_FLOOR: dict[NoFloor, str] = {
    "off": "", "none": "no relevance floor: no memory can be served", "unknown": "the floor is being computed",
}  # fmt: skip


def missing(standard: Standard) -> str:
    """Return why there is no floor; nothing where there is one, or it is turned off."""
    return _NO_FLOOR[standard.why] if standard.why else ""


def title(session: TuningSession) -> Iterator[tuple[str, str]]:
    """Yield what stands above a ranking: how many, at which moved moment, by whose bounds, and what
    is odd.
    """
    ranking, profile, k = session.ranking, session.profile, session.profile.k
    if ranking is None or session.question is None or not len(ranking.pool):
        yield "ranking", "bold"
        return
    count = len(ranking.candidates)
    yield f"Top {k} of {number(count)}" if k < count else f"All {number(count)} (k = {k})", "bold"
    if profile.candidates:
        yield f"only {one_line(profile.candidates, 40)}", WORSE
    if session.days:
        yield f"as of {absolute(session.now)} ({day_offset(session.days)})", WORSE
    if profile.scope != "pool" and profile.scorer == "factors":
        bounds = (
            f"over the {profile.top_n} most relevant"
            if profile.scope == "top"
            else "by frozen bounds"
        )
        yield f"0 to 1 {bounds}", MUTED
    if only_stop_words(session.question.text):
        yield "only common words: full text finds nothing", WORSE
    yield missing(session.question.standard), MUTED


def joined(pieces: Sequence[tuple[str, str]], width: int) -> Content:
    """Return the pieces side by side; those that there is no room for are left out."""
    shown: list[tuple[str, str]] = []
    for text, style in pieces:
        if text and assemble([*shown, (f" · {text}", "")]).cell_length <= width + 3 * (not shown):
            shown += [(" · ", MUTED), (text, style)] if shown else [(text, style)]
    return assemble(shown)


class RankingPane(Vertical):
    """The list of a ranking above its legend."""

    DEFAULT_CSS = """
    RankingPane {
        & .ranking--legend { height: 1; padding: 0 1; }
    }
    """

    def __init__(self, draw: Callable[[Line, int], Content]) -> None:
        super().__init__(id="ranking")
        self._draw = draw
        self._against = ""
        self._pieces: tuple[tuple[str, str], ...] = ()

    def compose(self) -> ComposeResult:
        """Build list and legend."""
        yield LineView(
            self._draw,
            key_of_line,
            is_heading=lambda line: isinstance(line, Heading),
            title="Ranking",
            id="list",
        )
        yield FixedText(classes="ranking--legend")

    @property
    def rows(self) -> LineView[Line]:
        return self.query_one("#list", LineView)

    def show(self, session: TuningSession, obstacle: str) -> None:
        """Show a ranking, or the obstacle in its place."""
        self.rows.set_empty(Content(obstacle))
        self.rows.set_rows(lines_of(session))
        self._pieces, self._against = tuple(title(session)), session.saved.name
        self.on_resize()

    def on_resize(self) -> None:
        """Draw title and legend for the width there is."""
        if not self.query(".ranking--legend"):
            return  # it is drawn once it is built
        width = max(0, self.size.width - 2)
        columns = f"  {'#':>3} move match {'score':<{bar_cells(width - 1)}} "
        room = width - len(columns)
        self.rows.border_title = Content(f"{columns}{joined(self._pieces, room)}")
        pieces: list[tuple[str, str]] = []
        for factor in FACTORS:
            fill, style = fill_of(factor)
            pieces += [(fill * 2, style), (f" {factor.label}  ", MUTED)]
        parts, moves = (
            assemble(pieces),
            assemble([("▲▼ new out", ""), (f" against {self._against}", MUTED)]),
        )
        gap = width - parts.cell_length - moves.cell_length
        legend = parts + Content(" " * gap) + moves if gap >= 0 else fitted(parts, width)
        self.query_one(".ranking--legend", FixedText).write(legend)


# The line at the bottom: is it better than the saved profile, over all judged queries?


OLD = "…"
"""Stands before a verdict on settings that have been moved since."""

_STYLES = {"better": ("▲ ", BETTER), "worse": ("▼ ", "bold $text-error"), "unclear": ("", "bold")}


class VerdictLine(FixedText):
    """One line, in fewer words where there is less room; a click opens the metrics."""

    DEFAULT_CSS = """
    VerdictLine { height: 1; background: $surface; }
    """

    def __init__(self) -> None:
        super().__init__(id="verdict")
        self.found: Compared | None = None
        self.old = True
        self._said = ""

    def show(self, found: Compared | str) -> None:
        """Show a verdict, or a sentence in its place."""
        self.found, self._said = (None, found) if isinstance(found, str) else (found, "")
        self.old = False
        self.on_resize()

    def age(self) -> None:
        """Mark the verdict as that of settings that are no more; the next one comes when the hand
        rests.
        """
        if not self.old:
            self.old = True
            self.on_resize()

    def on_resize(self) -> None:
        """Say it in as many words as there is room for."""
        room = max(0, self.size.width - 2)
        texts = [muted(printable(self._said))] if self.found is None else wordings(self.found)
        text = next((text for text in texts if text.cell_length <= room), texts[-1])
        # The mark has a place of its own, so that nothing moves while one slides.
        mark = OLD if self.old and self.found else " "
        self.write(muted(mark) + whole_words(text, room))

    def on_click(self) -> None:
        """Open the metrics."""
        self.screen.call_later(self.screen.run_action, "metrics")


def wordings(found: Compared) -> list[Content]:
    """Return ways to say a verdict in one line, the longest first."""
    (before, now), verdict = found.means, found.verdict
    head = [(f"{verdict.metric} ", MUTED), (f"{now:.2f}", "bold")]
    if found.same:
        over = f" over {counted(verdict.queries, 'judged query', 'judged queries')}"
        whole = [
            *head,
            (f"{over} · move a slider to compare with {printable(found.base.profile.name)}", MUTED),
        ]
        short = [*head, (over, MUTED)]
    else:
        whole = [*head, (f" (saved {before:.2f}) · ", MUTED), *verdict_parts(verdict)]
        short = [*head, (" · ", MUTED), *verdict_parts(verdict, short=True)]
    texts = [assemble(whole), assemble(short)]
    count, places = found.new.unjudged, sum(len(query.ids) for query in found.new.queries)
    if count:
        keys = ", ".join(map(key_of, ("tune.metrics", "metrics.look", "tune.judge")))
        texts.insert(
            0,
            assemble([*whole, (f" · {count:,} of {places:,} served are unjudged: {keys}", MUTED)]),
        )
    return texts


def verdict_parts(verdict: Verdict, *, short: bool = False) -> list[tuple[str, str]]:
    """Return counts, difference, interval and conclusion; without the interval and the reasons when
    `short`.
    """
    mark, style = _STYLES[verdict.outcome]
    conclusion = "inconclusive" if verdict.outcome == "unclear" else verdict.outcome
    return [
        (
            f"{verdict.wins} better, {verdict.losses} worse, {verdict.ties} equal · Δ {signed(verdict.delta)}",
            "",
        ),
        (" · " if short else f" [{signed(verdict.low)}, {signed(verdict.high)}] · ", MUTED),
        (mark + (conclusion if short else verdict.conclusion), style),
    ]
