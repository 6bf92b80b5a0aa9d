"""Repositories that tests make, with nobody's settings."""

import os
import subprocess
from pathlib import Path

_WHO = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false")


def commit(tree: Path, what: str) -> None:
    """Commit everything."""
    git(tree, "add", "-A")
    git(tree, "commit", "-q", "-m", what)


def git(tree: Path, *arguments: str) -> None:
    """Run git in a tree."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run(
        ["git", *_WHO, *arguments], cwd=tree, check=True, stdout=subprocess.DEVNULL,
        env={**ours, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"},
    )  # fmt: skip
