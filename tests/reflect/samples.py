"""Memories and a reflector for the tests of reflections."""

from datetime import UTC, datetime, timedelta
from typing import Any

from workbench.core.limits import LlmSettings
from workbench.core.reflection.reflector import Request, Step
from workbench.core.stream.memory import Memory
from workbench.reflect.claude.asker import Budget
from workbench.reflect.claude.reflector import ClaudeReflector

KEY = "sk-ant-test-0123456789-secret"
START = datetime(2026, 11, 1, 9, tzinfo=UTC)
TEXTS = (
    "CI failed because the image has another Node version",
    "The user says: use pnpm, never npm",
    "test_orders fails every third run",
    "npm install broke the lockfile",
    "test_orders and test_stock share one database",
)


def memory(number: int, text: str, **more: Any) -> Memory:
    at = START + timedelta(hours=number)
    return Memory(f"mem-20261101-{number:07}", text, at, at, **more)


MEMORIES = tuple(memory(number, text) for number, text in enumerate(TEXTS, start=1))
IDS = tuple(m.id for m in MEMORIES)
REQUEST = Request(MEMORIES)


def reflector(
    url: str, budget: Budget | None = None, *, retries: int = 0, **settings: Any
) -> ClaudeReflector:
    return ClaudeReflector(LlmSettings(**settings), budget, url, KEY, timeout=20, retries=retries)


def never() -> bool:
    return False


def ignore(_step: Step) -> None:
    pass
