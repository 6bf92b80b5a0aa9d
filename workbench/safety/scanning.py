"""Looking at a text before it is kept, shown, promoted or exported.

Clean text costs microseconds: every rule waits behind a few plain searches for what it cannot do without. The rules
are loaded with the first text that is looked at: a prompt that shows a store's state needs none.
"""

from workbench.core.safety import Finding
from workbench.safety.lowering import lowered


def scan(text: str) -> tuple[Finding, ...]:
    """Return what a text holds that should not travel: secrets, orders to an agent, hidden characters; in order."""
    from workbench.safety import hidden
    from workbench.safety.orders import orders
    from workbench.safety.secrets import secrets

    low = lowered(text)
    found = [*secrets.find(text, low), *orders.find(text), *hidden.find(text)]
    return tuple(sorted(found, key=lambda f: (f.start, f.end))) if found else ()


def prepare() -> None:
    """Make every rule ready: who answers again and again has no text wait for the rules that it is the first to need.

    It takes a third of a second, on any thread.
    """
    from workbench.safety.orders import orders

    scan("")
    orders.prepare()


def secrets_in(text: str) -> list[Finding]:
    """Return the secrets of a text alone, in order."""
    from workbench.safety.secrets import secrets

    return secrets.find(text, lowered(text))


def mask(text: str) -> str:
    """Return a text with each secret replaced by a marker that names it; line breaks stay where they are."""
    from workbench.safety.secrets import secrets

    return secrets.mask(text)


def without(text: str, found: list[Finding]) -> str:
    """Return a text with a marker for each finding; they are in order, none within another."""
    from workbench.safety.secrets import secrets

    return secrets.without(text, found)
