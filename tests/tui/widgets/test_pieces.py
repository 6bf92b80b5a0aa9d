"""Segments made with remembered styles are those that Textual makes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from textual.color import Color
from textual.content import Content, Span
from textual.style import Style

from workbench.tui.widgets.line_list import Pieces

STYLES = ("bold", "red on blue", "$text-muted", "not a style", "dim italic", Style(bold=True))
BASES = (Style(), Style(Color(10, 20, 30), Color(200, 210, 220)), Style(Color(1, 2, 3), Color(0, 0, 0, 0.6, auto=True)))
SPANS = st.lists(st.builds(Span, st.integers(0, 12), st.integers(0, 14), st.sampled_from(STYLES)), max_size=4)


def joined(segments: list[Segment]) -> list[Segment]:
    return list(Segment.simplify(segments))


@pytest.mark.slow
@given(st.text("ab ⇄猫", max_size=12), SPANS, st.sampled_from(BASES))
def test_any_line_is_drawn_as_textual_draws_it(text: str, spans: list[Span], base: Style) -> None:
    spans = [span for span in spans if span.start < span.end <= len(text)]
    line, pieces = Content(text, spans), Pieces()
    for _ in range(2):
        assert joined(pieces.of(line, base)) == joined(line.render_segments(base))


@pytest.mark.parametrize("base", BASES)
def test_a_line_of_neighbours_is_taken_apart_at_its_spans(base: Style) -> None:
    line = Content("one two three", [Span(0, 3, "bold"), Span(4, 7, "italic")])
    made = Pieces().of(line, base)
    assert [piece.text for piece in made] == ["one", " ", "two", " three"]
    assert made[0].style is not None
    assert made[0].style.bold
