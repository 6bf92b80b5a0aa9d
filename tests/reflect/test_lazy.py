"""The SDK is loaded when a call to Claude begins, and not before."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "workbench" / "reflect").rglob("*.py"))
MODULES = "\n".join(f"import {'.'.join(p.relative_to(ROOT).with_suffix('').parts)}" for p in FILES)
PREPARED = f"""
{MODULES}
from workbench.core.limits import LlmSettings
from tests.reflect.samples import REQUEST
from workbench.reflect.claude.reflector import ClaudeReflector
from workbench.reflect.claude.keys import has_key
has_key()
claude = ClaudeReflector(LlmSettings(), base_url="http://127.0.0.1:9", api_key="k", retries=0)
claude.preview(REQUEST)
"""
CALLED = f"""
{PREPARED}
from workbench.core.reflection.reflector import ReflectionProblem
try:
    claude.reflect(REQUEST, lambda step: None, lambda: False)
except ReflectionProblem:
    pass
"""


def loaded(code: str) -> set[str]:
    """Return the top-level modules that a fresh interpreter has after running `code`."""
    script = f"import sys\n{code}\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        PREPARED,
        "import workbench.tui.app.run",
        "import workbench.cli.main",
        "import workbench.services.open",
    ],
)
def test_nothing_loads_the_sdk_before_a_call(code: str) -> None:
    assert not loaded(code) & {"anthropic", "httpx2", "pydantic"}


@pytest.mark.slow
def test_a_call_loads_it() -> None:
    assert {"anthropic", "httpx2"} <= loaded(CALLED)
