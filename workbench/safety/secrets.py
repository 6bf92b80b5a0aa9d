"""All secrets of a text, and the text without them."""

from collections.abc import Iterable, Iterator

from workbench.safety import addresses, assignments, keys, private, providers, randomness
from workbench.safety.finding import Finding
from workbench.safety.lowering import compiled, lowered

SHORTEST_KEY = 20
"""Characters that a key has at least: a text without so long a word holds none."""

ROUNDS = 6
"""How often a masked text is looked at again; what is found each time is masked, so it ends long before."""

_NAMES = ("pass", "pwd", "secret", "token", "key", "credential", "://", "bearer", "authorization")


def find(text: str, low: str) -> list[Finding]:
    """Return the secrets of a text in order, none within another; `low` is the text in lower case."""
    found: list[Finding] = []
    long = [word for word in text.split() if len(word) >= SHORTEST_KEY]
    if long:
        words = "\n".join(long)
        found += [*private.find(text), *keys.find(text, words), *providers.find(text, words)]
        found += randomness.find(text, words)
    if any(map(low.__contains__, _NAMES)):
        found += [*addresses.find(text, low), *assignments.find(text, low)]
    return list(_apart(found)) if found else found


def mask(text: str) -> str:
    """Return a text with each secret replaced by a marker that names it; line breaks stay where they are."""
    for _ in range(ROUNDS):
        found = find(text, lowered(text))
        if not found:
            break
        text = _without(text, found)
    return text


def marker(rule: str) -> str:
    """Return what stands in the place of a secret."""
    return f"[secret: {rule}]"


def masked_rules(text: str) -> tuple[str, ...]:
    """Return what the markers in a text stand for, each once, in order."""
    return tuple(dict.fromkeys(compiled(r"\[secret: ([^\]\n]{1,40})\]").findall(text)))


def _without(text: str, found: Iterable[Finding]) -> str:
    parts, at = [], 0
    for finding in found:
        breaks = "".join(c for c in text[finding.start : finding.end] if c in "\r\n")
        parts += [text[at : finding.start], marker(finding.rule), breaks]
        at = finding.end
    return "".join((*parts, text[at:]))


def _apart(found: list[Finding]) -> Iterator[Finding]:
    """Yield findings in order; of those that overlap, one that covers them all under the first one's name."""
    order = {id(finding): place for place, finding in enumerate(found)}
    found.sort(key=lambda f: (f.start, order[id(f)]))
    last = found[0]
    for finding in found[1:]:
        if finding.start < last.end:
            named = last if order[id(last)] < order[id(finding)] else finding
            last = Finding(named.kind, named.rule, named.reason, last.start, max(last.end, finding.end))
            order[id(last)] = order[id(named)]
        else:
            yield last
            last = finding
    yield last
