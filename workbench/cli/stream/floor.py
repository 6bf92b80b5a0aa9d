"""What `search` says about the floor: that nothing is relevant, which memories are weak, and by what figures."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workbench.core.text import counted, one_line
from workbench.core.tuning.floor import NoFloor

if TYPE_CHECKING:
    from workbench.services.tuning.floors import AgainstFloor

_LONGEST = 60

_NONE: Mapping[NoFloor, str] = {
    "none": "no floor: no memory can be served",
    "unknown": "no floor: it is not computed yet",
    "off": "",
}


def nothing_relevant(query: str, against: "AgainstFloor") -> str:
    """Return the sentence about a query that nothing is relevant to, and nothing for another one."""
    floor, reach = against.verdict.standard.floor, against.verdict.reach
    if not against.empty or floor is None or reach is None:
        return ""
    best = f"the best match reaches {reach.together:.2f}"
    asked = one_line(query, _LONGEST)
    return f"Nothing here is relevant to “{asked}”: {best}, background questions reach {floor.query:.2f} here."


def left_out(number: int) -> str:
    """Return what to say about memories that an agent was not given because they are weak."""
    what = counted(number, "weak memory was", "weak memories were")
    return f"{what} left out: background questions find better ones here."


def basis(against: "AgainstFloor") -> str:
    """Return what the query is held against; nothing where the floor is turned off."""
    floor, reach = against.verdict.standard.floor, against.verdict.reach
    if floor is None or reach is None:
        why = against.verdict.standard.why
        return "" if why is None else _NONE[why]
    query = f"the query reaches {_made(reach.cosine, reach.lexical, reach.known)} = {reach.together:.4f}"
    return f"floor {floor.query:.4f}: {query} · a memory is weak below {floor.memory:.4f}"


def of_memory(against: "AgainstFloor", id: str) -> tuple[str, ...]:
    """Return what a memory's relevance is made of, and whether it is weak."""
    weak = ", weak" if against.is_weak(id) else ""
    return (f"{_made(*against.scores_of(id))} = {against.relevance(id):.4f}{weak}",)


def _made(cosine: float, lexical: float, known: bool) -> str:
    return f"(cosine {cosine:.4f} + full text {lexical:.4f}) ÷ 2" if known else "full text alone"


def weak_json(against: "AgainstFloor", id: str) -> dict[str, object]:
    """Return a memory's relevance and, unless the floor is turned off, whether it is weak, as fields of its row."""
    weak = {} if against.verdict.standard.why == "off" else {"weak": against.is_weak(id)}
    return {"relevance": against.relevance(id), **weak}


def floor_json(against: "AgainstFloor", id: str) -> dict[str, object]:
    """Return the floor and what the query and a memory reach, or why there is none, as fields of an explanation."""
    floor, reach, why = against.verdict.standard.floor, against.verdict.reach, against.verdict.standard.why
    if floor is None or reach is None:
        return {} if why == "off" else {"floor": None, "no_floor": why}
    cosine, lexical, known = against.scores_of(id)
    return {
        "floor": {
            "query": floor.query,
            "memory": floor.memory,
            "query_reaches": {"cosine": reach.cosine if reach.known else None, "lexical": reach.lexical},
            "memory_reaches": {"cosine": cosine if known else None, "lexical": lexical},
        }
    }
