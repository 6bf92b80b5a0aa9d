"""Patterns to try things out on."""

from datetime import UTC, datetime, timedelta

from workbench.core.agents.patterns.pattern import Application, Outcome, Pattern
from workbench.core.agents.patterns.schema import pattern_from

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)

FULL: dict[str, object] = {
    "pattern_id": "pat-20260301-0000007",
    "name": "Retry with backoff",
    "category": "RECOVERY",
    "version": 3,
    "created_at": "2026-03-01T08:00:00Z",
    "last_updated": "2026-04-01T08:00:00Z",
    "description": "An API that times out is asked again, later each time.",
    "summary": "Retry with growing pauses.",
    "detailed_explanation": "Most time-outs pass.",
    "applicability": {
        "problem_types": ["api_timeout", "rate_limit"],
        "task_features": {
            "domain": ["http", "python"],
            "complexity": {"min": 1, "max": 6},
            "required_capabilities": ["network"],
        },
        "context_conditions": [
            "attempts < 5",
            {"field": "status", "operator": "in", "value": [429, 503]},
        ],
        "anti_conditions": ["idempotent == false"],
    },
    "content": {
        "type": "PROCEDURE",
        "procedure": {
            "steps": [
                "Wait",
                {"action": "Ask again", "id": "ask", "depends_on": ["wait"]},
                {"text": "Wait", "id": "wait"},
            ],
            "branching_logic": [{"when": "attempts >= 5", "go_to": "wait"}],
            "termination_conditions": ["status == 200"],
        },
    },
    "evidence": {
        "supporting_episodes": ["ep-1", "ep-2"],
        "counter_episodes": ["ep-3"],
        "num_applications": 12,
        "success_rate": 0.9,
        "avg_time_saving": 30.5,
        "confidence_score": 0.85,
        "statistical_significance": 0.003,
        "last_validated": "2026-04-01T08:00:00Z",
    },
    "baseline": {"runs": 8, "success_rate": 0.5, "time": 120, "cost": 2},
    "application": {
        "when_to_apply": "On 429.",
        "expected_benefits": ["fewer failures"],
        "alternative_patterns": ["pat-x"],
    },
    "lifecycle": {"status": "VALIDATED", "usage_count": 40, "last_used": "2026-05-01T00:00:00Z"},
    "relationships": {"specializes": "pat-y", "contradicts": ["pat-z"]},
    "metadata": {"team": "core"},
    "source": "review",
}
"""A pattern with nearly every field of source 004."""

TEMPLATE: dict[str, object] = {
    "name": "API feature",
    "category": "decomposition",
    "summary": "Design, implement, test.",
    "content": {
        "type": "template",
        "template": {
            "structure": {
                "goal": "Add {{name}}",
                "subtasks": [
                    {
                        "id": "design",
                        "text": "Design {{ name }} with {{people}} people",
                        "minutes": 30,
                    },
                    {"id": "endpoint", "text": "Implement {{item}}", "after": ["design"]},
                    {"id": "migrate", "text": "Migrate the tables"},
                ],
                "tags": "{{tags}}",
            },
            "parameters": [
                "name",
                {"name": "people", "type": "number", "default": 2},
                {"name": "endpoints", "type": "list"},
                {"name": "tables", "type": "boolean", "default": False},
                {"name": "tags", "type": "list", "default": [], "choices": ["a", "b"]},
            ],
            "instantiation_rules": [
                {"part": "endpoint", "for_each": "endpoints", "when": "item != skip"},
                {"part": "migrate", "when": "tables and people >= 2"},
            ],
        },
    },
}
"""A pattern with a template."""


def full(**changes: object) -> Pattern:
    """Return the full pattern, with other values for some of its keys."""
    return pattern_from({**FULL, **changes}, NOW)


def applied(
    pattern: Pattern, outcomes: str, *, days: float = 1.0, time: float | None = None
) -> list[Application]:
    """Return applications that went as said, one a letter (s, p, f), one every day back from so
    many days ago.
    """
    words: dict[str, Outcome] = {"s": "success", "p": "partial", "f": "failure"}
    return [
        Application(
            f"{pattern.id}/e{n}",
            pattern.id,
            f"e{n}",
            words[word],
            NOW - timedelta(days=days + n),
            time=time,
        )
        for n, word in enumerate(outcomes)
    ]
