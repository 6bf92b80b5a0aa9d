"""What is said about one set of parameters: its birth certificate, what it changes, how its ranking differs."""

from collections.abc import Sequence

from textual.content import Content

from workbench.core.text import printable
from workbench.core.tuning.profile import Profile
from workbench.core.tuning.verdict import signed
from workbench.services.tuning.profile_diff import Changed, Value, changes
from workbench.services.tuning.provenance import ProfileProvenance
from workbench.services.tuning.session import TuningSession
from workbench.tui.tuning.profiles.compare import in_common
from workbench.tui.tuning.profiles.sides import Side
from workbench.tui.widgets.content import MUTED, assemble
from workbench.tui.widgets.figures import absolute, days
from workbench.tui.widgets.keys import keyed

_LABEL = 20
_DAYS = ("half_lives.", "feedback_half_life")


def certificate_text(side: Side, against: Side, session: TuningSession, file: str) -> Content:
    """Return everything that is known about a side, compared with another one."""
    lines = [Content.styled(printable(side.title), "bold")]
    if side.profile is not None and side.profile.about and side.is_profile:
        lines.append(Content.styled(printable(side.profile.about), MUTED))
    if side.problem:
        lines += [Content(""), Content.styled(f"✗ {printable(side.problem)}", "$text-error")]
    if side.kind == "snapshot" and side.at is not None and side.profile is not None:
        lines.append(Content.styled(f"taken {absolute(side.at)}, from {printable(side.profile.name)}", MUTED))
    if file:
        lines += [Content(""), _row("file", printable(file))]
    if side.birth is not None:
        lines += [Content(""), *_certificate(side.birth)]
    elif side.kind == "yours" and not side.problem:
        lines += [Content(""), Content.styled("No birth certificate: it was saved without judged queries.", MUTED)]
    if side.profile is not None and against.profile is not None and side.id != against.id:
        lines += [Content(""), *_compared(side.profile, against.profile, against.title, session)]
    return Content("\n").join(lines)


def _certificate(birth: ProfileProvenance) -> Sequence[Content]:
    band = f"[{signed(birth.low)}, {signed(birth.high)}]"
    conclusion = "can't tell" if birth.verdict == "unclear" else birth.verdict
    rows = [
        _row("saved", f"{absolute(birth.at)}, from {printable(birth.parent)}"),
        _row(f"Δ {printable(birth.metric)}", f"{signed(birth.delta)} {band} · {printable(conclusion)}"),
        _row("measured on", f"{birth.queries:,} queries with {birth.judgments:,} judgments"),
        _row("query set", printable(birth.query_set)),
    ]
    return [*rows, *([_row("how", printable(birth.how))] if birth.how else [])]


def _compared(profile: Profile, other: Profile, other_title: str, session: TuningSession) -> Sequence[Content]:
    found = changes(other, profile)
    head = assemble([("against ", MUTED), (printable(other_title), "bold")])
    lines = [head] if found else [head, Content("  The same settings.")]
    lines += [_changed(change) for change in found]
    if found and session.question is not None:
        lines += [Content(""), Content.styled(in_common(session.question, session.now, other, profile), "")]
        lines.append(Content.styled(keyed("{tune.compare} shows both rankings, place by place"), MUTED))
    return lines


def _changed(change: Changed) -> Content:
    before, after = (_shown(change.parameter, value) for value in (change.before, change.after))
    label = f"  {change.parameter:<{_LABEL}} "
    return assemble([(label, ""), (f"{before:>8}", MUTED), (" → ", MUTED), (after, "bold")])


def _shown(parameter: str, value: Value) -> str:
    if parameter.startswith(_DAYS):
        return days(value if isinstance(value, float | int) else None)
    if value is None or value == "":
        return "none"
    return f"{value:.4g}" if isinstance(value, float) else printable(str(value))


def _row(label: str, text: str) -> Content:
    return assemble([(f"{label:<14}", MUTED), (text, "")])
