"""The first run, with no store yet: what a person should know of the place, and what they choose."""

from pathlib import Path
from typing import Literal, NamedTuple

FirstChoice = Literal["demo", "project", "import", "agent", "empty", "recent"]
"""What can be done with no store: try the demo, make one here, take a file into one, connect an
agent, begin with an empty one, or open another that was open before.
"""

TRY_DEMO = 77
"""The code that the app ends with for the demo to be opened, and its store again after that."""


class FirstRun(NamedTuple):
    """The place that the workbench was started in: nothing of it is made yet.

    `here` is the working directory, `store` the global store, which is not there; `is_home` tells
    that `here` is the person's home, `closed` why no store can be made there (empty: one can).
    `recent` are the stores of other places that were open before. With `is_project` a file is
    imported into a store of `here`.
    """

    here: Path
    store: Path
    is_home: bool = False
    closed: str = ""
    recent: tuple[Path, ...] = ()
    is_project: bool = False


class FirstStep(NamedTuple):
    """What a person chose, for `recent` with the store's folder."""

    choice: FirstChoice
    folder: Path | None = None
