"""All secrets of a text, and the text without them."""

from collections.abc import Iterable, Iterator

from workbench.core.safety import Finding
from workbench.safety.lowering import compiled, lowered
from workbench.safety.secrets import addresses, assignments, keys, private, providers, randomness
from workbench.safety.secrets.crowds import blanked, crowds

SHORTEST_KEY = 20
"""Characters that a key has at least: a text without so long a word holds none."""

ROUNDS = 6
"""How often a masked text is looked at again; what is found each time is masked, so it ends long before."""

_MARKER = r"\[secret: ([A-Za-z-]{2,16}(?: [A-Za-z-]{2,16}){0,3})\]"
"""A marker names a kind of secret, in words: what else stands in such brackets is looked at like all text."""

_NAMES = ("pass", "pwd", "secret", "token", "key", "credential", "://", "bearer", "authorization")

_OPTIONS = (" -", "machine", "default", ":5432:", ":*:", '"auth"')


def find(text: str, low: str) -> list[Finding]:
    """Return the secrets of a text in order, none within another; `low` is the text in lower case.

    What a marker names is no name of a value behind it, and no part of a secret.
    """
    if "[secret: " in text:
        text = _blank(text)
        low = lowered(text)
    crowded = crowds(text, low, _single)
    rest = (blanked(text, crowded), blanked(low, crowded)) if crowded else (text, low)
    found = [*crowded, *private.find(text), *_single(*rest)]
    return list(_apart(found)) if found else found


def _single(text: str, low: str) -> list[Finding]:
    """Return the secrets that stand within a line or two; some may overlap."""
    found: list[Finding] = []
    long = [word for word in text.split() if len(word) >= SHORTEST_KEY]
    if long:
        words = "\n".join(long)
        found += [*keys.find(text, words), *providers.find(text, words), *randomness.find(text, words)]
    if any(map(low.__contains__, _NAMES)):
        found += [*addresses.find(text, low), *assignments.find(text, low)]
    if any(map(text.__contains__, _OPTIONS)):
        from workbench.safety.secrets import commands  # a hook that meets none of these need not load it

        found += commands.find(text, low)
    return found


def mask(text: str) -> str:
    """Return a text with each secret replaced by a marker that names it; line breaks stay where they are."""
    for _ in range(ROUNDS):
        found = find(text, lowered(text))
        if not found:
            break
        text = without(text, found)
    return text


def marker(rule: str) -> str:
    """Return what stands in the place of a secret."""
    return f"[secret: {rule}]"


def masked_rules(text: str) -> tuple[str, ...]:
    """Return what the markers in a text stand for, each once, in order."""
    return tuple(dict.fromkeys(compiled(_MARKER).findall(text)))


def _blank(text: str) -> str:
    """Return a text of the same length with nothing in the brackets of its markers."""
    parts = compiled(_MARKER).split(text)
    parts[1::2] = [f"[{' ' * len(f'secret: {name}')}]" for name in parts[1::2]]
    return "".join(parts)


def without(text: str, found: Iterable[Finding]) -> str:
    """Return a text with a marker for each finding; they are in order, none within another."""
    parts, at = [], 0
    for finding in found:
        parts += [text[at : finding.start], marker(finding.rule)]
        at = finding.end
        taken = text[finding.start : at]
        if "\r" in taken:
            parts.append("".join(c for c in taken if c in "\r\n"))
        elif "\n" in taken:
            parts.append("\n" * taken.count("\n"))
    return "".join((*parts, text[at:]))


def _apart(found: list[Finding]) -> Iterator[Finding]:
    """Yield findings in order; of those that overlap, one that covers them all under the first one's name."""
    ranked = sorted([(finding.start, order) for order, finding in enumerate(found)])
    last, place = found[ranked[0][1]], ranked[0][1]
    for start, order in ranked[1:]:
        finding = found[order]
        if start < last.end:
            named = last if place < order else finding
            place = min(place, order)
            last = named._replace(start=last.start, end=max(last.end, finding.end))
        else:
            yield last
            last, place = finding, order
    yield last
