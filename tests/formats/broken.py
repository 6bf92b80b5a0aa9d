"""Files of every format, broken in many ways."""

import json
import random
from pathlib import Path

from tests.formats.others import TEXTS
from tests.formats.samples import COUNTS, GENAGENTS, LOOSE, NODES

ENTRY = {
    "id": "a", "version": 1, "timestamp": "2026-02-11T10:23:00Z", "type": "gotcha", "status": "archived",
    "confidence": 2, "source": {"hook": "x", "turn": 1}, "context": "some text", "summary": "s", "tags": ["t"],
    "meta": {"k": [1, 2]}, "importance_score": 4, "helpful_count": 3, "archived_reason": "pruned",
}  # fmt: skip


QUERY = {"query": "q", "relevant": {"a": 1, "b": 2}, "tags": ["t"], "now": "2026-02-11T10:23:00Z"}


SAMPLES = {
    "lifecycle": "".join(json.dumps({**ENTRY, "id": name}) + "\n" for name in "abc"),
    "ace": COUNTS + LOOSE,
    "queries": "".join(json.dumps({**QUERY, "query": name}) + "\n" for name in "abc"),
    "genagents": GENAGENTS,
    "generative-agents": NODES,
    "trec-qrels": "q-1 0 mem-1 2\nq-1 0 mem-2 0\nq%20two 0 mem-1 1\nq-3 0 mem-9 3\n",
    "usage-log": "".join(
        json.dumps({"bullet_ids_used": [n, "b"], "is_correct": n == "a"}) + "\n" for n in "abc"
    ),
    "ace-operations": "".join(
        json.dumps(
            {
                "operation_type": kind,
                "call_id": "t_1",
                "bullet_id": "x-00001",
                "section": "others",
                "content": "c",
            }
        )
        + "\n"
        for kind in ("ADD", "UPDATE", "DELETE")
    ),
    "ace-reply": (Path(__file__).parents[2] / "fixtures" / "replies" / "curation.txt").read_text(
        "utf-8"
    ),
    **{name: text for name, (_, text) in TEXTS.items()},
}


DEEP = "[" * 60_000


VALUES = ("null", "true", "-1", "1e999", "NaN", "9" * 5000, '"x"', "[]", "{}", '"\\ud800"', '"\\u0000"', DEEP,
          '{"a":' * 50_000, "[" * 300 + "]" * 300, '"' + "y" * 200_000 + '"', '"0001-01-01T00:00+23:59"')  # fmt: skip


SIGNS = ("\r", "\n", "\u2028", "\ufeff", "\\", '"', "{", "]", ",", "::", "##")


def broken(text: str, dice: random.Random) -> str:
    """Break a text in one of many ways."""
    at, end = sorted((dice.randrange(len(text)), dice.randrange(len(text))))
    ways = (
        lambda: text[:at],
        lambda: text[at:],
        lambda: text[:at] + text[end:],
        lambda: text[:at] + "\0" * dice.randrange(1, 9) + text[at:],
        lambda: text[:at] + dice.choice(VALUES) + text[at:],
        lambda: replaced_value(text, dice),
        lambda: replaced_value(text, dice),
        lambda: text[:at] + dice.choice(SIGNS) + text[at:],
        lambda: text[:at] + "z" * 300_000 + text[at:],
        lambda: DEEP + text,
        lambda: text + text,
        lambda: "".join(dice.sample(text, len(text))),
    )
    return dice.choice(ways)()


def replaced_value(text: str, dice: random.Random) -> str:
    """Put a value of another kind behind one of the keys."""
    starts = [n for n, sign in enumerate(text) if sign in ":="] or [0]
    at = dice.choice(starts) + 1
    end = next((n for n in range(at, len(text)) if text[n] in ",}\n"), len(text))
    return text[:at] + dice.choice(VALUES) + text[end:]
