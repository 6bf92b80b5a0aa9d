"""`workbench config` and `workbench stores`: where things are."""

import tomllib

from workbench.cli.output import moment, say, table, warn, write_json
from workbench.cli.parsing import Commands, add_command, add_json, wants_json
from workbench.cli.session import Session
from workbench.config import loading, paths, reading, recent

_WHY = {
    "option": "asked for with --store",
    "project": "of the project you are in",
    "global": "your global store",
}


def add_commands(commands: Commands) -> None:
    """Add `config` and `stores`."""
    parser = add_command(
        commands, "config", print_config, "print the settings that hold, or where they are set", example="show"
    )
    parser.add_argument("what", choices=("show", "path"))
    add_json(parser)
    add_json(
        add_command(
            commands,
            "stores",
            list_stores,
            "list the stores you opened lately, and which one opens here",
            example="--json",
        )
    )


def print_config(session: Session) -> int:
    """Print the effective settings as a config file, or the path of the file."""
    path = paths.config_dir() / loading.FILE_NAME
    if session.args.what == "path":
        if wants_json(session.args):
            write_json({"path": path})
        else:
            say(str(path))
        return 0
    from workbench.bench.safety.masking import masked, masked_text

    settings = session.settings().settings
    shown = settings._replace(views=masked(settings.views, masked_text), keys=masked(settings.keys, masked_text))
    if shown != settings:
        warn("Secrets are masked; the config file holds them as they are.")
    if wants_json(session.args):
        write_json({"path": path, "settings": tomllib.loads(reading.show(shown))})
    else:
        say(reading.show(shown).rstrip("\n"))
    return 0


def list_stores(session: Session) -> int:
    """Print the recent stores; an arrow marks the one that opens here."""
    choice = session.choice()
    state = paths.state_dir()
    known = recent.recent(state)
    rows, docs = [], []
    for folder in dict.fromkeys((choice.folder, *known)):
        look = recent.last_look(state, folder)
        seen = f"last looked at {moment(look.at)}" if look else "not opened yet"
        here = folder == choice.folder
        docs.append({"folder": folder, "here": here, "looked_at": look.at if look else None})
        rows.append(("→" if here else "", str(folder), seen, f"opens here: {_WHY[choice.origin]}" if here else ""))
    if wants_json(session.args):
        write_json(docs)
        return 0
    for line in table(rows):
        say(line)
    if not known:
        warn("No store was opened in the app yet.")
    return 0
