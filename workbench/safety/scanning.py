"""Looking at a text before it is kept, shown, promoted or exported.

Clean text costs microseconds: every rule waits behind a few plain searches for what it cannot do without.
"""

from workbench.safety import hidden, orders, secrets
from workbench.safety.finding import Finding
from workbench.safety.lowering import lowered

mask = secrets.mask


def scan(text: str) -> tuple[Finding, ...]:
    """Return what a text holds that should not travel: secrets, orders to an agent, hidden characters; in order."""
    low = lowered(text)
    found = [*secrets.find(text, low), *orders.find(text, low), *hidden.find(text)]
    return tuple(sorted(found, key=lambda f: (f.start, f.end))) if found else ()
