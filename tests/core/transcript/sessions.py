"""Sessions of an agent written down step by step, as events."""

from collections.abc import Iterator
from itertools import count

from workbench.core.agents.transcript.events import Answer, Call, Event, Prompt
from workbench.core.agents.transcript.following import Following, Told
from workbench.core.agents.transcript.summaries import Lesson, Passed, ordered, told_once

CWD = "/home/ann/shop"
Step = tuple[str, ...]


def ran(
    command: str, output: str = "", *, failed: bool = False, tool: str = "Bash", cwd: str = CWD
) -> list[Event]:
    """A command that was run, and what it said."""
    id = f"toolu_{next(_numbers):03}"
    return [
        Call(id, tool=tool, given={"command": command}, cwd=cwd),
        Answer(id, text=output, failed=failed),
    ]


def fell(command: str, output: str, **more: str) -> list[Event]:
    """A command that failed."""
    return ran(command, output, failed=True, **more)


def edited(path: str, old: str = "", new: str = "", tool: str = "Edit") -> list[Event]:
    """An edit of a file."""
    id = f"toolu_{next(_numbers):03}"
    given = {"file_path": f"{CWD}/{path}", "old_string": old, "new_string": new}
    return [Call(id, tool=tool, given=given, cwd=CWD), Answer(id, text="updated")]


def asked(text: str) -> list[Event]:
    """A prompt that a person typed."""
    return [Prompt(f"p{next(_numbers)}", text=text)]


def followed(*steps: list[Event], session: str = "s1") -> list[Told]:
    """What a session teaches, and what is passed over in it."""
    following = Following(session)
    return [told for step in steps for told in following.take(step)]


def lessons(*steps: list[Event], session: str = "s1") -> list[Lesson]:
    """What a session teaches, as it is kept."""
    return ordered(
        told_once(one for one in followed(*steps, session=session) if isinstance(one, Lesson))[0]
    )


def reasons(*steps: list[Event]) -> list[str]:
    """Why things are passed over in a session."""
    told = followed(*steps)
    late = told_once(one for one in told if isinstance(one, Lesson))[1]
    return [one.reason for one in (*told, *late) if isinstance(one, Passed)]


def _counted() -> Iterator[int]:
    yield from count(1)


_numbers = _counted()
