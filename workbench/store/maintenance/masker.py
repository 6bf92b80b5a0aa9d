"""Taking secrets out of what a store has written, line by line; the records they stand in stay."""

from collections.abc import Callable, Iterable
from typing import Any

from workbench.store.maintenance.redact import Redactor

WHOLE = 16
"""Characters from which a secret is looked for everywhere; shorter ones only where something tells what they are."""


class Masker(Redactor):
    """Rewrites values and lines with `clean` over every text within, names of fields included.

    `secrets` are what is to be found nowhere afterwards: damaged lines and copies that hold one go as a whole.
    """

    def __init__(self, secrets: Iterable[str], clean: Callable[[str], str]) -> None:
        super().__init__(frozenset(), frozenset(), [secret for secret in secrets if len(secret) >= WHOLE])
        self._clean = clean

    def value(self, value: Any) -> Any:
        """Return a JSON value without the secrets."""
        return self._clean(value) if isinstance(value, str) else super().value(value)

    def _entry(self, value: dict[str, Any]) -> dict[str, Any]:
        clean = {**super()._entry(value), "actor": self._clean(value.get("actor", ""))}
        if clean.get("kind") == "purge":
            clean.pop("more", None)  # it is done once this line is in place
        return clean
