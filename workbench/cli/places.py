"""`workbench config` and `workbench stores`: where things are, and what is set."""

import contextlib
import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import moment, say, say_table, warn, write_json
from workbench.cli.parsing import Commands, add_command, add_json, wants_json
from workbench.cli.session import Session, actor_of
from workbench.cli.tuning.profile import use
from workbench.config import loading, paths, recent, settings_reading
from workbench.config.settings_reading import KEYS
from workbench.config.writing import Value, set_values
from workbench.core.agents.actors import require_person
from workbench.core.record import InvalidRecord, WorkbenchError

if TYPE_CHECKING:
    from workbench.core.tuning.profile import ProfileInUse

_WHY = {
    "option": "asked for with --store",
    "project": "of the project you are in",
    "global": "your global store",
}


def add_commands(commands: Commands) -> None:
    """Add `config` and `stores`."""
    parser = add_command(
        commands,
        "config",
        config,
        "print the settings, say where they are, or set one",
        _CONFIG,
        example="show",
    )
    parser.add_argument("what", choices=("show", "path", "set"))
    parser.add_argument(
        "key", metavar="KEY", nargs="?", help="set: a key as `show` names it, such as agents.serve"
    )
    parser.add_argument("value", metavar="VALUE", nargs="?", help="set: its value")
    about = "set: write the profile into the config file, for all stores that name none"
    parser.add_argument("--global", dest="everywhere", action="store_true", help=about)
    parser.mixes = True
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


_CONFIG = """set KEY VALUE writes into the config file; all else stands as it did. The profile is a setting of the store
instead: it is in its history, `workbench undo` takes it back, and "" leaves the choice to the config file. --profile
goes first, then WORKBENCH_PROFILE, the store, the config file. An agent cannot set anything."""


def config(session: Session) -> int:
    """Print the effective settings as a config file, or the path of the file; or set one."""
    args = session.args
    if args.what == "set":
        return _set(session)
    if args.key is not None or args.everywhere:
        raise InvalidRecord(
            f"`config {args.what}` takes nothing else.", "`config set KEY VALUE` sets something."
        )
    path = paths.config_dir() / loading.FILE_NAME
    if session.args.what == "path":
        if wants_json(session.args):
            write_json({"path": path})
        else:
            say(str(path))
        return 0
    from workbench.services.safety.masking import masked, masked_text

    settings = session.settings().settings
    shown = settings._replace(
        views=masked(settings.views, masked_text), keys=masked(settings.keys, masked_text)
    )
    if shown != settings:
        warn("Secrets are masked; the config file holds them as they are.")
    used = _used(session)
    if wants_json(session.args):
        in_use = {} if used is None else {"profile": used.name, "profile_from": used.origin}
        write_json(
            {"path": path, "settings": tomllib.loads(settings_reading.show(shown)), **in_use}
        )
    else:
        if used is not None:
            say(f"# Profile in use here: {used}.\n")
        say(settings_reading.show(shown).rstrip("\n"))
    return 0


def _used(session: Session) -> "ProfileInUse | None":
    """Return which profile ranks here, `None` where that cannot be found out."""
    with contextlib.suppress(WorkbenchError), session.reading(remarks=False) as bench:
        return bench.context.profile
    return None


def _set(session: Session) -> int:
    """Set one setting: of the store where it has it, else in the config file."""
    args, path = session.args, paths.config_dir() / loading.FILE_NAME
    require_person(actor_of(args), "change a setting")
    if args.key is None or args.value is None:
        raise InvalidRecord(
            "`config set` needs a KEY and a VALUE.", "`workbench config show` lists the keys."
        )
    if args.key == "profile" and not args.everywhere:
        with session.changing() as bench:
            use(session, bench, args.value)
        return 0
    value = _value(args.key, args.value, path.parent)
    if args.key == "profile":
        with session.reading(remarks=False) as bench:
            bench.tuning.profiles.get(args.value)
    before = set_values(path, {args.key: value})[args.key]
    for problem in loading.load(path).problems:
        warn(problem)
    if wants_json(args):
        write_json({"key": args.key, "value": value, "before": before, "path": path})
    else:
        was = "" if before is None or before == value else f" (it was {json.dumps(before)})"
        say(f"{args.key} is {json.dumps(value)} in {path}{was}.")
    return 0


def _value(name: str, text: str, folder: Path) -> Value:
    """Return a value that a key takes, read as TOML where that fits it, else as text. Raises
    `InvalidRecord`.
    """
    key = next((key for key in KEYS if key.name == name), None)
    if key is None and name.startswith("keys."):
        return text
    if key is None:
        raise InvalidRecord(f"There is no setting “{name}”.", "`workbench config show` lists them.")
    with contextlib.suppress(ValueError):
        value = tomllib.loads(f"value = {text}")["value"]
        key.value(value, folder)
        if isinstance(value, Value):
            return value
    try:
        key.value(text, folder)
    except ValueError as error:
        raise InvalidRecord(f"{name} cannot be “{text}”.", f"Expected: {key.expected}.") from error
    return text


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
        rows.append(
            (
                "→" if here else "",
                str(folder),
                seen,
                f"opens here: {_WHY[choice.origin]}" if here else "",
            )
        )
    if wants_json(session.args):
        write_json(docs)
        return 0
    say_table(rows)
    if not known:
        warn("No store was opened in the app yet.")
    return 0
