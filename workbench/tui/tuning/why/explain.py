"""Why a memory stands where it stands, figure by figure."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content

from workbench.core.text import printable
from workbench.core.tuning.factors import RELEVANCE
from workbench.core.tuning.profile import Profile
from workbench.services.tuning.episode_terms import TermPart
from workbench.services.tuning.floor.against import AgainstFloor
from workbench.services.tuning.question import NO_CANDIDATE, NO_EPISODE, Explanation, Part
from workbench.tui.tuning.floor import of_memory, of_query
from workbench.tui.tuning.hints import WayIn
from workbench.tui.tuning.parameters import weight
from workbench.tui.widgets.bars.factor_bar import fill_of
from workbench.tui.widgets.content import MUTED, assemble, body, fitted, line
from workbench.tui.widgets.figures import number
from workbench.tui.widgets.keys import keyed

_BY_SETTINGS = {NO_CANDIDATE: "{tune.candidates} changes the filter.", NO_EPISODE: "{tune.load} loads another profile."}
"""What lets in again a memory that only the settings leave out."""

_NAME = 12
_TERM, _SHARE = 26, 14
"""Cells of what a relevance is made of, figure by figure, and of the longest bar beside it."""

_BAR = "▄"
"""Half as high as a line, so that bars below one another stay apart."""

_TABLE = 45
"""Cells of the table of figures; the total stands at its right edge."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What an explanation is seen against: the profile, the baseline's name, the width in cells.

    `every` tells whether every parameter was tried for ways into the top, not only the weights; `against` is the
    query held against the floor; `bounds` whether what set the ends of each scale is shown, too.
    """

    profile: Profile
    baseline: str
    width: int
    every: bool = False
    against: AgainstFloor | None = None
    bounds: bool = False


def explained(found: Explanation, ways: Sequence[WayIn] | None, setting: Setting) -> Content:
    """Return the whole explanation of one memory; `ways` is `None` while they are not worked out."""
    lines = [_place(found, setting), *_title(found.standing.memory.line, setting.width)]
    if found.hidden:
        lines += [
            assemble([("Not served: ", "bold $text-warning"), (printable(found.hidden), "bold $text-warning")]),
            Content.styled(
                keyed(_BY_SETTINGS.get(found.hidden, "An agent is never given it, whatever the settings.")), MUTED
            ),
        ]
        return Content("\n").join(lines)
    if setting.against is not None:
        lines += of_memory(setting.against, found.standing.memory.id)
    # Before the figures: what a person wants who asks about a memory that is not served.
    lines += _ways(found, ways, setting)
    lines += terms_text(found.terms, setting.width) if found.terms else [_header(setting.width)]
    for part in () if found.terms else found.parts:
        lines += _part(part, setting)
        if part.factor.id == RELEVANCE:
            lines += _shares(found, fill_of(part.factor)[1], setting.width)
    if found.standing.scored:
        most = None if found.terms else sum(part.weight for part in found.parts)
        lines += [_total(found.standing.scored.total, most, setting.width), _scope(found, setting)]
        lines += of_query(setting.against) if setting.against is not None else ()
    return Content("\n").join(lines)


def _place(found: Explanation, setting: Setting) -> Content:
    place, before = found.standing.place, found.standing.before
    pieces = [("hidden" if place is None else f"#{place}", "bold $text-accent")]
    if before is None:
        pieces.append((f" · hidden under {printable(setting.baseline)}", MUTED))
    elif before != place:
        pieces.append((f" · #{before} under {printable(setting.baseline)}", MUTED))
    pieces.append((f" · {printable(found.standing.memory.id)}", MUTED))
    return assemble(pieces)


def _title(text: str, width: int) -> list[Content]:
    """Return two lines of a text at most, so that the figures stay in sight."""
    lines = body(text[: 4 * max(20, width)], "bold").wrap(max(20, width))
    if len(lines) <= 2:
        return list(lines)
    return [lines[0], fitted(lines[1].rstrip() + Content.styled(" …", "bold"), max(20, width))]


def _header(width: int) -> Content:
    return Content.styled(f"{'':{_NAME}}{'raw':>7}   {'0 to 1':>6}  {'weight':>6}   {'part':>6}"[:width], MUTED)


def _part(part: Part, setting: Setting) -> list[Content]:
    width = setting.width
    fill, style = fill_of(part.factor)
    figures = f"{part.raw:>7.4f} → {part.norm:>6.4f} × {weight(part.weight):>5} = {part.weighted:>6.4f}"
    head = assemble([(f"{fill} ", style), (f"{part.factor.label:<{_NAME - 2}}", "bold"), (figures, "")])
    if part.dead:
        cause = f"all have {part.raw:.4f}" if part.low_by else f"both frozen bounds are {part.low:.4f}"
        dead = f"    dead: {cause}, so it is 0.5 everywhere and decides nothing"
        lines = Content.styled(dead.strip(), "$text-warning").wrap(max(20, width - 4))
        return [head, *(Content("    ") + line.rstrip() for line in lines)]
    if not setting.bounds:
        return [head]
    low, high = ("frozen" if memory is None else memory.line for memory in (part.low_by, part.high_by))
    return [head, _bound("min", part.low, low, width), _bound("max", part.high, high, width)]


def _bound(name: str, value: float, text: str, width: int) -> Content:
    head = f"    {name} {value:>8.4f}  "
    return Content.styled(head, MUTED) + line(text, max(0, width - len(head)), MUTED)


def _shares(found: Explanation, style: str, width: int) -> list[Content]:
    """Return a line for each thing that raw relevance is made of, with a bar of what it adds."""
    shares = [share for share in found.shares if share.part.how != "feeds" and not share.idle]
    full = sum(max(0.0, share.amount) for share in shares if share.part.how == "adds")
    cells = max(0, min(_SHARE, width - _TERM - 6))
    lines = []
    for i, share in enumerate(shares):
        adds, times = share.part.how == "adds", "" if share.times is None else f" × {weight(round(share.times, 10))}"
        text = f"{share.part.label:<10} {share.value:>7.4f}{times}"
        bar = _BAR * round(max(0.0, share.amount) / full * cells) if full and adds else ""
        sign = "=" if not i else "+" if adds else "×"
        lines.append(assemble([(f"    {sign} ", MUTED), (f"{text:<{_TERM}}", ""), (bar, style)]))
    return lines + [line(f"      {share.said}", width, MUTED) for share in found.shares if share.said]


def _total(total: float, most: float | None, width: int) -> Content:
    """Return the sum of the parts, and the `most` that it could be: the sum of the weights."""
    head, figures = "  total" if most is None else f"  total, of at most {weight(round(most, 10))}", f"{total:.4f}"
    gap = " " * max(1, min(width, _TABLE) - len(head) - len(figures))
    return assemble([(head, "bold"), (gap, ""), (figures, "bold $text-accent")])


def _scope(found: Explanation, setting: Setting) -> Content:
    profile = setting.profile
    if found.terms:
        return Content.styled(f"  taken as they are, among {number(found.pool)} episodes", MUTED)
    whom = f"all {number(found.pool)} served memories"
    if profile.scope == "frozen":
        return Content.styled("  each factor 0 to 1 by frozen bounds, whatever the query and the moment", MUTED)
    if profile.scope == "top" and profile.top_n < found.pool:
        whom = f"the {number(profile.top_n)} most relevant of {number(found.pool)}"
    return Content.styled(f"  each factor 0 to 1 over {whom}", MUTED)


def _ways(found: Explanation, ways: Sequence[WayIn] | None, setting: Setting) -> list[Content]:
    place, k = found.standing.place, setting.profile.k
    if ways is None or place is None or place <= k:
        return []
    if not ways:
        return [Content(f"No single {'slider' if setting.every else 'weight'} brings it into the best {k}.")]
    lines = [Content(f"One change brings it into the best {k}:")]
    for way in ways[:6]:
        lines.append(assemble([(f"  {way.label} {way.then}", "bold"), (f" (now {way.now})", MUTED)]))
    return lines


def terms_text(terms: Sequence[TermPart], width: int) -> list[Content]:
    """Return a line per term and what the sum is over; under each its fill in the bar of the row."""
    header = f"{'':{_NAME}}{'value':>7}   {'weight':>6}   {'part':>6}"
    lines = [Content.styled(header[:width], MUTED)]
    for term in terms:
        fill, style = fill_of(term.factor)
        figures = f"{term.value:>7.4f} × {weight(round(term.weight, 6)):>6} = {term.weighted:>7.5f}"
        head = assemble([(f"{fill} ", style), (f"{term.term:<{_NAME - 2}}", "bold"), (figures, "")])
        note = printable(term.note)
        room = width - head.cell_length - 2
        lines.append(head + Content("  ") + line(note, room, MUTED).rstrip() if note and room >= len(note) else head)
        if note and room < len(note):
            lines.append(Content.styled(f"    {note}", MUTED))
    return lines
