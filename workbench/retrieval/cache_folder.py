"""Where caches lie: a folder in the store's folder, which is never made for the sake of a cache."""

from pathlib import Path


def make(folder: Path) -> None:
    """Make a cache's folder and the one it lies in, not the store's above them; raises `OSError` when that is gone."""
    folder.parent.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
