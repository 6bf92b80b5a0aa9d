"""The line that says which playbook is open, how large it is and how it is written."""

from dataclasses import dataclass

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from workbench.core.text import printable
from workbench.tui.app.surviving import survives
from workbench.tui.playbook.rows import bullets_in
from workbench.tui.widgets.content import MUTED, assemble, cut, fitted
from workbench.tui.widgets.figures import number


@dataclass(frozen=True, slots=True)
class BookFacts:
    """What the line shows; `others` counts the further playbooks of the store."""

    name: str
    dialect: str
    bullets: int
    sections: int
    tokens: int
    others: int = 0
    budget: int = 0


@survives
class BookBar(Widget):
    """One line: name on the left, figures on the right; the longest wording that fits."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    BookBar { height: 1; padding: 0 1; }
    """

    facts: reactive[BookFacts | None] = reactive[BookFacts | None](None)

    def render(self) -> Content:
        """Return the line, exactly as wide as the widget."""
        facts, width = self.facts, self.content_size.width
        if facts is None:
            return Content.styled("No playbook", MUTED)
        others = f"  b: {facts.others} more" if facts.others else ""
        name = Content.styled(printable(facts.name[:200]), "bold")
        room = width - len(others) - min(name.cell_length, width // 3) - 2
        figures = next((f for f in _wordings(facts) if len(f) <= room), _wordings(facts)[-1])
        room = max(8, width - len(figures) - len(others) - 2)
        left = cut(name, room) + assemble([(others, MUTED)])
        return fitted(left, max(0, width - len(figures) - 2)) + Content.styled(f"  {figures}", MUTED)


def _wordings(facts: BookFacts) -> list[str]:
    of = f" of {number(facts.budget)}" if facts.budget else ""
    over = " ✂ over" if 0 < facts.budget < facts.tokens else ""
    tokens = f"≈ {number(facts.tokens)}{of} tokens{over}"
    bullets = bullets_in(facts.bullets)
    sections = "1 section" if facts.sections == 1 else f"{facts.sections} sections"
    return [
        f"{facts.dialect} dialect · {bullets} in {sections} · {tokens} (estimated)",
        f"{facts.dialect} · {bullets} · {tokens}",
        f"{bullets} · {tokens}",
    ]
