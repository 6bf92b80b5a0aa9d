"""Why something in a file is not read, or is odd: a value, so that places with the same reason can
be told together.
"""

from typing import NamedTuple

from workbench.core.text import ELLIPSIS


class Reason(NamedTuple):
    """What is wrong: `pattern` is the sentence, with a `{}` for each of the `values` that only this
    place has.

    Reasons with one pattern are of one kind. A pattern without values is plain text, braces and
    all.
    """

    pattern: str
    values: tuple[object, ...] = ()

    def __str__(self) -> str:
        return self.pattern.format(*self.values) if self.values else self.pattern

    @property
    def kind(self) -> str:
        """The sentence without what only this place has."""
        return (
            self.pattern.format(*(ELLIPSIS for _ in self.values)) if self.values else self.pattern
        )

    def under(self, pattern: str, *values: object) -> "Reason":
        """Return the reason with what it is about in front of it."""
        if not values and not self.values:
            return Reason(f"{pattern}: {self.pattern}")
        head = pattern if values else braced(pattern)
        rest = self.pattern if self.values else braced(self.pattern)
        return Reason(f"{head}: {rest}", (*values, *self.values))


class Unread(ValueError):
    """A record cannot be read, for a `reason` that is told of its place in the file."""

    def __init__(self, pattern: str, *values: object) -> None:
        self.reason = Reason(pattern, values)
        super().__init__(str(self.reason))


def reason_of(error: ValueError) -> Reason:
    """Return why a record could not be read."""
    return error.reason if isinstance(error, Unread) else Reason(str(error))


def braced(text: str) -> str:
    """Return a text as it stands in a pattern."""
    return text.replace("{", "{{").replace("}", "}}")
