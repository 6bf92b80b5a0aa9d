"""Saving what a person typed: what would be masked is shown first, and a word keeps it."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager

from workbench.core.files.locks import StoreBusy
from workbench.core.record import Conflict, WorkbenchError
from workbench.core.text import begun_alike, one_line
from workbench.services.open import Workbench

SHOWN, BEFORE = 100, 40
"""Cells of a masked line that are shown, and the characters before its first marker among them."""

KEEP = "keep"
"""The word, alone in the last line (or last in a single line), that keeps a secret as it was typed."""


class Preview:
    """Shows once how a text that a person typed would be stored, and takes the word that keeps it
    as typed.

    Called with what was typed, it returns the sentence to show first, or None when it can be taken:
    then `text` is what was meant, without the word, and `kept` says whether its secrets stay. What
    stands in `before` is not new. `again` names the key that takes it; one `line` has the word
    behind a space.
    """

    def __init__(
        self, bench: Workbench, before: str = "", again: str = "ctrl+s", *, line: bool = False
    ) -> None:
        self._bench, self._before, self._again = bench, before, again
        self._apart, self._where = (" ", "a last word") if line else ("\n", "a last line")
        self._seen = self.text = ""
        self.kept = False

    def __call__(self, typed: str) -> str | None:
        """Return what to show first, or None."""
        self.read(typed)
        masked = None if self.kept or typed == self._seen else self._masked(typed)
        if masked is None:
            return None
        self._seen = typed
        return (
            f"A secret is masked: stored as “{masked}”. {self._again} again saves it masked; {self._where} “{KEEP}” "
            "keeps it as typed."
        )

    def read(self, typed: str) -> str:
        """Return what is meant by what was typed, without showing anything."""
        bare = typed.rstrip().removesuffix(f"{self._apart}{KEEP}")
        self.kept = bare != typed.rstrip() and self._masked(bare) is not None
        self.text = bare if self.kept else typed
        return self.text

    @property
    def stored(self) -> str:
        """The text as it is stored: whole when its secrets stay, else with markers in their place."""
        return self.text if self.kept else self._bench.gate.preview(self.text, self._before)

    @property
    def typed(self) -> tuple[str, ...]:
        """The texts whose secrets stay."""
        return (self.text,) if self.kept else ()

    def writing(
        self, label: str, ids: Callable[[], Iterable[str]] = lambda: ()
    ) -> AbstractContextManager[None]:
        """Let what is written in this block keep what the person keeps; see `Safety.keeping`."""
        return self._bench.safety.keeping(label, self.typed, ids)

    def _masked(self, text: str) -> str | None:
        """Return what would be masked first, as it would be stored and with what stands around it,
        or `None`.
        """
        clean = self._bench.gate.preview(text, self._before)
        pairs = zip(text.split("\n"), clean.split("\n"), strict=False)
        old, new = next(((old, new) for old, new in pairs if old != new), (text, clean))
        return _around(old, new) if clean != text else None


class Saving:
    """Saves an edited text for the editor: returns the sentence that says why it could not, or
    None.

    A store that others are writing to is not its matter: `StoreBusy` goes to who asked (see
    `tui.waiting`).

    `write(text, base)` raises `Conflict` when the text is no longer `base`. When it was changed
    meanwhile, the first attempt says so and the next one replaces it: `again` names its key. `read`
    returns the text as it is now. The first attempt shows what would be masked in the text (see
    `Preview`); what is kept stays in the records that `kept` returns once they are written
    (default: in the one that `name` is).
    """

    def __init__(
        self,
        bench: Workbench,
        name: str,
        base: str,
        write: Callable[[str, str], object],
        read: Callable[[], str],
        again: str = "ctrl+s",
        kept: Callable[[], Iterable[str]] | None = None,
    ) -> None:
        self._kept = (lambda: (name,)) if kept is None else kept
        self._preview = Preview(bench, base, again)
        self._name, self._base, self._again = name, base, again
        self._write, self._read = write, read

    def __call__(self, text: str) -> str | None:
        if (first := self._preview(text)) is not None:
            return first
        try:
            self._store()
        except StoreBusy:
            raise
        except Conflict as conflict:
            if (now := self._read()) == self._base:
                return str(conflict)
            self._base = now
            return f"{self._name} was changed by someone else meanwhile. {self._again} again replaces that."
        except WorkbenchError as error:
            return str(error)
        return None

    def _store(self) -> None:
        text = self._preview.text
        with self._preview.writing(f"edit {self._name}", self._kept):
            self._write(text, self._base)


def _around(old: str, new: str) -> str:
    """Return the part of a line that has the first marker in it, which a person has to see."""
    same = begun_alike(old, new)
    begin = max(0, same - BEFORE)
    begin = (begin and new.find(" ", begin, same) + 1) or begin
    return ("…" if begin else "") + one_line(new[begin:], SHOWN)
