"""Small files written by hand, and the clock that reads them."""

from datetime import UTC, datetime

from workbench.core.files.format import ReadContext

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def context(file: str = "sample") -> ReadContext:
    """Return a context with a fixed clock that rates every memory 7."""
    return ReadContext(now=NOW, file=file, importance=lambda kind, content: 7.0)


COUNTS = """## STRATEGIES & INSIGHTS
[sai-00001] helpful=7 harmful=1 :: Quote paths.
[sai-00002] helpful=0 harmful=0 :: Read the page count first.

## COMMON MISTAKES TO AVOID
[err-00003] helpful=1 harmful=4 :: Never guess an id.

## OTHERS
"""

BARE = """## STRATEGIES AND HARD RULES
[shr-00001] End code blocks with ``` and a newline(\\n).
[shr-00005] Look at the specification [before] a call.

## OTHERS
[misc-00003] The tokens above are not valid any more."""

LOOSE = """My playbook
## Tips:
an introduction

- [tip-1] helpful=2, neutral=1, harmful=-3 :: dashed
  and continued

  after a gap
[tip-1] helpful=0 harmful=0 :: same id

### Tips:
* [odd id!] helpful = 3 harmful = 0 :: spaced
"""

GENAGENTS = """[
  {"node_id": 0, "node_type": "observation", "content": "Interviewer: \\n", "importance": 0,
   "created": 1, "last_retrieved": 3, "pointer_id": null},
  {"node_id": 1, "node_type": "observation", "content": "   ", "importance": 50,
   "created": 2, "last_retrieved": 2, "pointer_id": null},
  {"node_id": 2, "node_type": "reflection", "content": "He likes rivers.", "importance": 85,
   "created": 5, "last_retrieved": 5, "pointer_id": [0, 1], "mood": "calm"},
  {"node_id": 3, "node_type": "dream", "content": "A boat.", "importance": 240,
   "created": "2026-01-02 03:04:05", "last_retrieved": null, "pointer_id": 2}
]
"""

NODES = """{"node_5": {"type": "chat", "created": "2023-02-13 09:00:00", "description": "talking about paint",
  "poignancy": 3, "keywords": ["paint", "paint", "Mei"], "filling": [["Klaus", "Hi"], ["Mei", "Hello"]]},
 "node_4": {"type": "thought", "created": "2023-02-13 08:00:00", "description": "This is blank", "filling": null},
 "node_3": {"type": "thought", "created": "2023-02-13 07:00:10", "expiration": "2023-03-15 00:00:00",
  "description": "Klaus plans his day", "embedding_key": "Klaus plans his day", "poignancy": 5,
  "keywords": ["plan"], "filling": ["node_1", "node_2"]},
 "node_2": {"type": "event", "created": "yesterday", "description": "desk is idle", "poignancy": 1},
 "node_1": {"type": "event", "created": "2023-02-13 00:00:00", "description": "bed is idle", "poignancy": 1,
  "subject": "bed", "filling": []}}
"""


def sure(found: tuple[float, str] | None) -> float:
    """Return how sure a format is of a file, 0 where it is not its own."""
    return found[0] if found else 0.0
