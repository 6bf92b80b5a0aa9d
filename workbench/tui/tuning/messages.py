"""What background work reports to the tuning screen, and the screen's help."""

from textual.message import Message

from workbench.bench.tuning.question import Question
from workbench.core.tuning.factors import RECIPE
from workbench.tui.tuning.hints import Hints

_FACTORS = RECIPE.factors

HELP = f"""The ranking
  {" ".join(f.glyph for f in _FACTORS):17}the weighted parts: {", ".join(f.label for f in _FACTORS)}
  ▲2 ▼1 =          places gained or lost against the saved profile at the time of the query
  new / out        entered or left the best k, which is what an agent is served
The sliders
  ← →              one step, from any pane; with shift a fine one
  enter            types a value; the wheel nudges, a click sets
  ▹                the slider that ← → move while another pane has the keys
  0.37: #4 ⇄ #5    at this weight the two rows swap; [ and ] jump just beyond
  ┼                such a place on the bar
The options (o)
  recency          by hours since the last access, days since it was made, rank, or off
  pinned           stay fresh, or fade as the others do
  0 to 1           over all served, over the most relevant, or by frozen bounds
  candidates (C)   a filter: what it leaves out takes no part and sets no bound
The verdict
  nDCG@10          over all judged queries; m shows every metric and what it means
  Δ [low, high]    mean difference from the saved profile, with its 95 % band
  can't tell yet   chance alone could do this (paired randomisation test, 5 %)
  provisional      fewer than 12 judged queries"""


class Asked(Message):
    """A query has been scored (or `problem` says why not)."""

    def __init__(self, text: str, question: Question | None, problem: str = "") -> None:
        super().__init__()
        self.text = text
        self.question = question
        self.problem = problem


class Hinted(Message):
    """The hints have been worked out, for what lay on the screen after so many moves."""

    def __init__(self, moves: int, hints: Hints) -> None:
        super().__init__()
        self.moves = moves
        self.hints = hints
