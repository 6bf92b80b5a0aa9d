"""The context of a task in its parts (source 004, section 4.4): patterns, episodes, failures, and what is known."""

from collections.abc import Iterable, Mapping

from workbench.services.agents.context.values import AgentContext, Item, Layer
from workbench.services.context import Context

PARTS: Mapping[str, str] = {"patterns": "applicable_patterns", "episodes": "similar_episodes"}
"""The layers that are a part of their own; of what failed alike, patterns and episodes are; the rest is knowledge."""

FAILURES, RECOVERIES, KNOWLEDGE = "similar_failures", "recovery_patterns", "domain_knowledge"


def parted(context: Context, made: AgentContext) -> dict[str, object]:
    """Return a context as its parts, each thing with its id, its text and where that comes from."""
    parts: dict[str, list[object]] = {name: [] for name in (*PARTS.values(), FAILURES, RECOVERIES, KNOWLEDGE)}
    patterns = context.library.table_named("patterns")
    for layer, item in _items(made.layers):
        name = PARTS.get(layer, KNOWLEDGE)
        if layer == "failures":
            name = RECOVERIES if item.id in patterns else FAILURES
        parts[name].append(_row(layer, item))
    left = [one.why for layer in made.layers for one in layer.left_out]
    counts = {why: left.count(why) for why in dict.fromkeys(left)}
    return {**parts, "tokens": made.tokens, "left_out": counts, "nothing_relevant": made.is_empty}


def _items(layers: Iterable[Layer]) -> Iterable[tuple[str, Item]]:
    return ((layer.kind.id, item) for layer in layers for item in layer.items)


def _row(layer: str, item: Item) -> dict[str, object]:
    origin = {"approved": item.provenance.approved, "source": item.provenance.kind}
    row: dict[str, object] = {"id": item.id, "layer": layer, "text": item.alone, "provenance": origin}
    return row if item.score is None else {**row, "score": round(item.score, 4)}
