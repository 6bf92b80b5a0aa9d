"""Why a text should not be shown, or sent, before a person looked."""

from workbench.bench.flagging import findings_of
from workbench.core.memory import Memory


def suspicions(memory: Memory) -> tuple[str, ...]:
    """Return the reasons to fold a memory's text away as sentences, each once; none when there are none."""
    return tuple(dict.fromkeys(finding.reason for finding in findings_of(memory)))
