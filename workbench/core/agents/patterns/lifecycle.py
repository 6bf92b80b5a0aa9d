"""The life of a pattern: candidate → validated → under review → validated again, or deprecated.

Every step is a function from pattern to pattern that raises `WorkbenchError` when it is impossible, and says why the
pattern stands where it does then.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from workbench.core.agents.patterns.names import Status
from workbench.core.agents.patterns.pattern import Application, Pattern
from workbench.core.agents.patterns.reasons import APPROVED, EVIDENCE, IMPORTED, REFINED, RESTORED
from workbench.core.agents.patterns.statistics import LEAST_CONFIDENCE, LEAST_EPISODES, Finding, evidence, finding
from workbench.core.errors import InvalidRecord, WorkbenchError

Outlook = Literal["insufficient", "candidate", "validated", "under_review"]
"""What a validation comes to: too little evidence to say, or the status that the evidence asks for."""

STEPS: Mapping[Status, tuple[Status, ...]] = {
    "candidate": ("validated", "deprecated"),
    "validated": ("under_review", "deprecated"),
    "under_review": ("validated", "deprecated"),
    "deprecated": ("candidate",),
}
"""Where a pattern may go from where it stands."""

NAMES: Mapping[Status, str] = {
    "candidate": "a candidate", "validated": "validated", "under_review": "under review", "deprecated": "deprecated",
}  # fmt: skip
UNCHANGED = "Nothing was changed."


@dataclass(frozen=True, slots=True)
class Validation:
    """A pattern that was validated: as it was, as it is now, what was found, and what that comes to."""

    before: Pattern
    after: Pattern
    finding: Finding
    outlook: Outlook

    @property
    def moves(self) -> bool:
        """Whether it stands elsewhere now."""
        return self.before.status != self.after.status


def validated(pattern: Pattern, applications: Iterable[Application], now: datetime) -> Validation:
    """Hold a pattern against its applications: a candidate may become validated, a validated one come under review.

    With too few applications nothing changes. One under review stays there until somebody decides (`refined`,
    `deprecated`); one that is deprecated is not looked at.
    """
    rows = tuple(applications)
    found = finding(pattern, rows, now)
    if not found.is_enough or pattern.status == "deprecated":
        return Validation(pattern, pattern, found, "insufficient")
    measured = replace(pattern, support=evidence(pattern, rows, found, now))
    if found.holds and found.confidence > LEAST_CONFIDENCE:
        outlook: Outlook = "validated"
    else:
        outlook = "candidate" if found.holds else "under_review"
    # Only what was relied upon can come under review, and what is there leaves it by a decision.
    wanted: Status = (
        outlook if outlook in STEPS[pattern.status] and pattern.status != "under_review" else pattern.status
    )
    if wanted != pattern.status:
        measured = _to(measured, wanted, EVIDENCE)
    return Validation(pattern, measured, found, outlook)


def refined(pattern: Pattern, now: datetime, reason: str = "") -> Pattern:
    """Take a pattern that is under review back into use; what was gathered so far counts no longer."""
    if pattern.status != "under_review":
        raise WorkbenchError(f"{pattern.id} is {NAMES[pattern.status]}, not under review.", UNCHANGED)
    return replace(_to(pattern, "validated", reason or REFINED), evidence_since=now)


def approved(pattern: Pattern, reason: str = "") -> Pattern:
    """Take a candidate into use on somebody's word, whatever evidence there is."""
    if pattern.status != "candidate":
        raise WorkbenchError(f"{pattern.id} is {NAMES[pattern.status]}, not a candidate.", UNCHANGED)
    return _to(pattern, "validated", reason or APPROVED)


def deprecated(pattern: Pattern, reason: str, superseded_by: str | None = None) -> Pattern:
    """Take a pattern out of use for good; it is kept as history."""
    if not reason.strip():
        raise InvalidRecord(f"{pattern.id} needs a reason to be deprecated.", UNCHANGED)
    if superseded_by == pattern.id:
        raise InvalidRecord(f"{pattern.id} cannot be superseded by itself.", UNCHANGED)
    return replace(_to(pattern, "deprecated", reason.strip()), superseded_by=superseded_by)


def restored(pattern: Pattern) -> Pattern:
    """Make a deprecated pattern a candidate again."""
    if pattern.status != "deprecated":
        raise WorkbenchError(f"{pattern.id} is {NAMES[pattern.status]}, not deprecated.", UNCHANGED)
    return replace(_to(pattern, "candidate", RESTORED), superseded_by=None)


def claimed(pattern: Pattern) -> Pattern:
    """Return a pattern that a file brings as its claims make it: validated where they are enough, else a candidate."""
    said = pattern.support
    enough = said.num_applications >= LEAST_EPISODES and said.confidence_score > LEAST_CONFIDENCE
    status: Status = "validated" if enough else "candidate"
    return replace(pattern, status=status, status_reason=IMPORTED)


def _to(pattern: Pattern, status: Status, reason: str) -> Pattern:
    if status not in STEPS[pattern.status]:
        now, then = NAMES[pattern.status], NAMES[status]
        raise WorkbenchError(f"{pattern.id} is {now}; from there it cannot become {then}.", UNCHANGED)
    return replace(pattern, status=status, status_reason=reason)
