"""`workbench replay`."""

from workbench.cli.parsing import Commands


def add_commands(commands: Commands) -> None:
    """Add `replay`."""
    _ = commands
