"""Sessions of Claude Code as files, written here from the public documentation."""

import json
from pathlib import Path
from typing import Any

SESSION = "0b5e6a34-3f0e-4a54-9a37-0f3f8b8a7c11"
DEPLOY = "how do we deploy the api to staging"


class Transcript:
    """A session file of Claude Code, written line by line."""

    def __init__(self, path: Path, session: str = SESSION) -> None:
        self.path = path
        self._session = session
        self._count = 0
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    def line(self, **doc: Any) -> None:
        self._count += 1
        known = {
            "sessionId": self._session, "uuid": f"{self._session[:8]}-{self._count}", "cwd": "/home/ann/shop",
            "timestamp": f"2026-03-19T10:{self._count:02}:00.000Z", "version": "2.1.39", "isSidechain": False,
        }  # fmt: skip
        with self.path.open("a") as file:
            file.write(json.dumps({**known, **doc}) + "\n")

    def asked(self, text: str, **more: Any) -> None:
        self.line(type="user", message={"role": "user", "content": text}, **more)

    def ran(self, command: str, output: str = "", failed: bool = False, **more: Any) -> str:
        id = f"toolu_{self._session[:6]}{self._count:04}"
        use = {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}
        result = {"type": "tool_result", "tool_use_id": id, "content": output, "is_error": failed}
        self.line(type="assistant", message={"role": "assistant", "content": [use]}, **more)
        self.line(type="user", message={"role": "user", "content": [result]}, **more)
        return id

    def noise(self) -> None:
        self.line(
            type="progress",
            data={"type": "hook_progress", "hookEvent": "Stop", "command": "no, use pnpm here"},
        )
        self.line(type="file-history-snapshot", messageId="m", snapshot={})
        self.line(type="system", subtype="turn_duration", durationMs=12)


def session(folder: Path, at: str) -> Path:
    """A session with a prompt, a subagent's task and a failure, at one time."""
    written = Transcript(folder / f"{SESSION}.jsonl")
    written.asked(DEPLOY, timestamp=at)
    task = {
        "type": "tool_use",
        "id": "toolu_t",
        "name": "Task",
        "input": {"prompt": "find out how the api is deployed"},
    }
    written.line(type="assistant", message={"role": "assistant", "content": [task]}, timestamp=at)
    written.ran(
        "git push",
        "fatal: The current branch cart has no upstream branch.",
        failed=True,
        timestamp=at,
    )
    return written.path
