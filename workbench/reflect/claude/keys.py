"""Whether there is a key for Claude. The key itself is never read here: the SDK finds it when a
call is made.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

HOW_TO = "Set the environment variable ANTHROPIC_API_KEY to your key and restart the workbench."

_FEDERATION = ("ANTHROPIC_FEDERATION_RULE_ID", "ANTHROPIC_ORGANIZATION_ID")
_IDENTITY = ("ANTHROPIC_IDENTITY_TOKEN_FILE", "ANTHROPIC_IDENTITY_TOKEN")


def has_key(environ: Mapping[str, str] | None = None) -> bool:
    """Tell whether the SDK would find credentials: in the environment, or a profile in its config
    folder.

    Looks only at what exists and does not load the SDK.
    """
    env = os.environ if environ is None else environ
    if env.get("ANTHROPIC_API_KEY") or env.get("ANTHROPIC_AUTH_TOKEN"):
        return True
    if all(env.get(name) for name in _FEDERATION) and any(env.get(name) for name in _IDENTITY):
        return True
    folder = _folder(env)
    name = env.get("ANTHROPIC_PROFILE") or _active(folder)
    if name != Path(name).name:
        return False  # the SDK refuses a profile outside its folder
    try:
        return (folder / "configs" / f"{name}.json").is_file()
    except (OSError, ValueError):
        return False


def _folder(env: Mapping[str, str]) -> Path:
    if given := env.get("ANTHROPIC_CONFIG_DIR"):
        return Path(given)
    home = Path(env.get("HOME") or Path.home())
    if sys.platform == "win32":
        return Path(env.get("APPDATA") or home / "AppData" / "Roaming") / "Anthropic"
    return home / ".config" / "anthropic"


def _active(folder: Path) -> str:
    try:
        return (folder / "active_config").read_text("utf-8").strip() or "default"
    except (OSError, ValueError):
        return "default"
