"""How long an event of an agent's hook takes as a whole process, against `append`, in turns."""

import json
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.cli import Asked, Figures, in_turns, own
from tests.benchmarks.open import build

BARS = {"event that is not a Stop, PreCompact, SessionStart or recall": "1.15 × append"}


def run(small: bool = False) -> dict[str, object]:
    """Return the figures of events on a store of 100,000 memories (`small`: of 1,000)."""
    with tempfile.TemporaryDirectory(prefix="bench-capture-") as name:
        store = Path(name) / "store"
        build(store, 1_000 if small else 100_000)
        return {"bars": BARS, **_measured(store, 3 if small else 15)}


def _measured(store: Path, runs: int) -> Figures:
    ours = [sys.executable, "-m", "workbench", "--store", str(store)]
    captured = [*ours, "capture", "claude-code"]

    def turn(number: int) -> dict[str, Asked]:
        # Each session is seen to begin, as with hooks that are installed.
        session = f"s-{number}"
        return {
            "append": Asked([*ours, "append", f"the hook saw step {number} of the nightly build end"]),
            "session begins": Asked(captured, _event("SessionStart", session, source="startup")),
            "prompt that teaches nothing": Asked(
                captured, _event("UserPromptSubmit", session, prompt=f"please build the cart, part {number}")
            ),
            "prompt that corrects": Asked(
                captured, _event("UserPromptSubmit", session, prompt=f"no, use tool{number} instead of the other one")
            ),
            "tool that worked": Asked(
                captured,
                _event(
                    "PostToolUse", session, tool_name="Bash", tool_use_id=f"t-{number}",
                    tool_input={"command": "git status"}, tool_response={"stdout": "clean"},
                ),
            ),
            "tool that failed": Asked(
                captured,
                _event(
                    "PostToolUseFailure", session, tool_name="Bash", tool_use_id=f"f-{number}",
                    tool_input={"command": f"git push origin part{number}"}, error="fatal: no upstream branch",
                ),
            ),
        }  # fmt: skip

    return in_turns(turn, own(store), runs, base="append")


def _event(name: str, session: str, **more: object) -> bytes:
    return json.dumps({"hook_event_name": name, "session_id": session, "cwd": "/", **more}).encode()
