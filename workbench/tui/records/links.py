"""The ids and files that a text names, as links: found when somebody looks for them, opened over the text."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from textual.content import Content

from workbench.core.named import implementation
from workbench.services.open import Workbench
from workbench.services.safety.masking import masked_name
from workbench.tui.app.area import AreaScreen
from workbench.tui.records.acts import OPENS, Place, area_below
from workbench.tui.widgets.lists.linked import Page
from workbench.tui.widgets.lists.reading_pane import ReadingPane

FILE = "documents"
"""Where what a file's name names is, in place of a table."""

FAR = 50_000
"""Characters of a text in which links are looked for."""

_NAME = re.compile(r"[\w~.][\w./:@+~-]*\w|\w")
_FILE = re.compile(r"\.(md|mdc|markdown|txt|json|jsonl|ya?ml|toml)$", re.IGNORECASE)
_LINK, _HERE = "underline", "reverse underline"


@dataclass(frozen=True, slots=True)
class Link:
    """Where a text names a record or a file, and which."""

    start: int
    end: int
    place: Place


def links_in(text: str, bench: Workbench, own: Place | None = None) -> list[Link]:
    """Return the records and files that a text names, without the one it is about (`own`)."""
    return [
        Link(match.start(), match.end(), place)
        for match in _NAME.finditer(text, 0, FAR)
        if (place := _named(match.group(), bench)) is not None and place != own
    ]


def _named(name: str, bench: Workbench) -> Place | None:
    """Return what a word names; a word without a digit is a word, whatever some record is called."""
    if _FILE.search(name):
        return (FILE, name)
    if not any(letter.isdigit() for letter in name):
        return None
    if bench.library.memories.find(name) is not None:
        return ("memories", name)
    if name in bench.library.bullets:
        return ("bullets", name)
    found = next(_called(name, bench), None)
    return None if found is None else ("bullets", found)


def _called(name: str, bench: Workbench) -> Iterator[str]:
    """Yield the keys of the bullets with an id, one for each playbook that has one."""
    for line in bench.playbooks.books():
        if (key := f"{line.book.id}/{name}") in bench.library.bullets:
            yield key


class Links:
    """The links of one pane: tab goes from one to the next, enter opens one over the present place.

    `own` is the record that the pane shows, `path` how one came there, as the title of what is opened says.
    With `endless` the first follows the last, where the key means nothing else around the text.
    """

    def __init__(
        self,
        page: Page,
        bench: Workbench,
        own: Callable[[], Place | None],
        path: Callable[[], tuple[str, ...]],
        *,
        endless: bool = False,
    ) -> None:
        self._page, self._bench = page, bench
        self._own, self._path = own, path
        self._endless = endless
        self._plain = Content("")
        self._found: list[Link] = []
        self._at = -1

    def go(self, step: int) -> bool:
        """Go to the next link, or the one before; False where there is none any more."""
        self._look()
        count = len(self._found)
        at = self._at + step if self._at >= 0 or step > 0 else count - 1
        if self._endless and count:
            at %= count
        if not 0 <= at < count:
            self._leave()
            return False
        self._at = at
        self.draw()
        self._page.reveal(self._found[at].end)
        return True

    def step(self, step: int) -> bool:
        """Go to the next link or the one before, but not beyond the last or the first; False there."""
        self._look()
        return 0 <= self._at + step < len(self._found) and self.go(step)

    @property
    def is_on_one(self) -> bool:
        """Whether the cursor is on a link; where it was on none, the text is not looked through."""
        return self._at >= 0 and self.current is not None

    @property
    def current(self) -> Place | None:
        """What the link under the cursor names."""
        self._look()
        return self._found[self._at].place if self._at >= 0 else None

    def follow(self) -> bool:
        """Open what the link under the cursor names; False where the cursor is on none."""
        self._look()
        if self._at < 0:
            return False
        screen = self._page.screen
        implementation(OPENS)(screen, area_below(screen), self._found[self._at].place, self._path())
        return True

    def _look(self) -> None:
        """Find the links, unless they are those of the text that is shown."""
        text = self._page.text
        if text.plain != self._plain.plain:
            here = self._found[self._at].place if self._at >= 0 else None
            self._plain, self._found = text, links_in(text.plain, self._bench, self._own())
            self._at = next((n for n, link in enumerate(self._found) if link.place == here), -1)

    def _leave(self) -> None:
        if self._at >= 0:
            self._at = -1
            self.draw()

    def draw(self) -> None:
        """Draw the links in the page, where others may have been drawn before."""
        text = self._plain
        for place, link in enumerate(self._found):
            text = text.stylize(_HERE if place == self._at else _LINK, link.start, link.end)
        self._page.draw_anew(text)


def links_of(area: AreaScreen, page: Page, own: Callable[[], Place | None], endless: bool = False) -> Links:
    """Return the links of a pane of an area: what is opened names the area, then the record they were found in."""
    mask = area.bench.safety.masked

    def path() -> tuple[str, ...]:
        place = own()
        return (area.area.title, *([] if place is None else [masked_name(place[1], mask)]))

    return Links(page, area.bench, own, path, endless=endless)


def linked_pane(id: str, bench: Workbench, path: Callable[[], tuple[str, ...]]) -> ReadingPane:
    """Return a pane for a text that is no record's own, with links to what it names."""
    pane = ReadingPane(id=id)
    pane.links = Links(pane, bench, lambda: None, path)
    return pane
