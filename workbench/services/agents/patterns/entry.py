"""The way in for a pattern as JSON: read, without secrets, with a name that can be one."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime

from workbench.core.agents.patterns.pattern import Baseline, Evidence, Pattern, conditions_of
from workbench.core.agents.patterns.schema import InvalidPattern, pattern_doc, pattern_from
from workbench.core.record import InvalidRecord
from workbench.services.safety.secret_filter import SecretFilter, strings

LONGEST_NAME = 200
"""Characters of an id, at the most."""


def entered(
    doc: object, now: datetime, gate: SecretFilter, new_id: Callable[[], str], old: Pattern | None = None
) -> Pattern:
    """Read a pattern that somebody brings; secrets in it are masked, but for those that the `old` one has already.

    Raises `InvalidRecord`: for what cannot be read, for an id that is none, for a condition that holds a secret.
    """
    before = "" if old is None else "\n".join(strings(pattern_doc(old)))
    pattern = pattern_from(doc, now, "pat-new")
    brings_id = isinstance(doc, Mapping) and any(isinstance(doc.get(key), str) for key in ("pattern_id", "id"))
    if brings_id:
        checked_name(pattern.id, "pattern")
    for path, text in conditions_of(pattern):
        if SecretFilter().preview(text, before) != text:
            raise InvalidPattern([(path, "holds a secret")])
    clean = _cleaned(pattern_doc(pattern), gate, before.__contains__)
    pattern = replace(pattern_from(clean, now), id=pattern.id)
    return pattern if brings_id else replace(pattern, id=new_id())


def apart(pattern: Pattern) -> Pattern:
    """Return what an agent brings as it comes in: a candidate that nothing speaks for yet, whatever it says."""
    return replace(
        pattern, status="candidate", status_reason="", support=Evidence(), baseline=Baseline(), usage_count=0,
        last_used=None, superseded_by=None, evidence_since=None, edition=1,
    )  # fmt: skip


def checked_name(name: str, what: str) -> str:
    """Return the name of a record; raises `InvalidRecord` for one that is empty, long, not plain, or a secret."""
    plain = name.strip()
    if not plain or len(plain) > LONGEST_NAME or not plain.isprintable() or any(map(str.isspace, plain)):
        raise InvalidRecord(f"The id of the {what} is no name.", "Nothing was written; take letters and digits.")
    if SecretFilter().preview(plain, "") != plain:
        raise InvalidRecord(f"The id of the {what} holds a secret.", "Nothing was written; name it otherwise.")
    return plain


def _cleaned(value: object, gate: SecretFilter, known: Callable[[str], bool]) -> object:
    """Return a JSON value without its secrets; `gate` is told what they were."""
    if isinstance(value, str):
        return gate.cleaned(value, known)
    if isinstance(value, Mapping):
        return {gate.cleaned(key, known): _cleaned(item, gate, known) for key, item in value.items()}
    if isinstance(value, list):
        return [_cleaned(item, gate, known) for item in value]
    return value
