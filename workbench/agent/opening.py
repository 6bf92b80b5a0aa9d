"""Opens a store for an agent that is written in Python."""

from pathlib import Path

from workbench.config import loading, paths
from workbench.services.open import Workbench, open_workbench


def open_for(agent: str, store: Path | None = None) -> Workbench:
    """Open a store, else that of the working directory, as the app finds it. Raises `StoreProblem`."""
    folder = paths.find_store(Path.cwd(), store).folder
    loaded = loading.load(paths.config_dir() / loading.FILE_NAME)
    return open_workbench(
        folder,
        profiles=paths.config_dir() / "profiles",
        replaced=paths.replaced_dir(),
        settings=loaded.settings,
        given=loaded.given,
        actor=f"agent:{agent}",
        heads=paths.heads_dir(),
        believed=paths.is_believed(folder),
    )
