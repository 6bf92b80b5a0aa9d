"""`workbench config` and `workbench stores`: what is set, and where the stores are."""

import contextlib
import json
import tomllib
from collections.abc import Mapping

from workbench.cli.output import moment, table, warn
from workbench.cli.session import actor_of
from workbench.cli.verbs import Answer, Call, Option, Verb, flag, unopened, value
from workbench.config import loading, paths, recent, settings_reading
from workbench.config.writing import set_values
from workbench.core.agents.actors import require_person
from workbench.core.record import InvalidRecord, WorkbenchError

_WHY = {
    "option": "asked for with --store",
    "project": "of the project you are in",
    "global": "your global store",
}

_CONFIG = """`set KEY VALUE` writes to the config file and leaves the rest of it unchanged. The profile is a
setting of the store instead: it is part of the history, `workbench undo` takes it back, and ""
leaves the choice to the config file. Order of precedence: --profile, WORKBENCH_PROFILE, the
store, the config file. Agents cannot change settings."""


def config(call: Call) -> Answer:
    """Print the effective settings as a config file, or the path of the file; or set one."""
    args, session = call.args, call.session
    if args.what == "set":
        return _set(call)
    if args.key is not None or args.everywhere:
        raise InvalidRecord(
            f"`config {args.what}` takes nothing else.", "Did you mean `config set KEY VALUE`?"
        )
    path = paths.config_dir() / loading.FILE_NAME
    if args.what == "path":
        return Answer({"path": path}, [str(path)])
    settings = session.settings().settings
    views, keys = call.shown((settings.views, settings.keys))
    text = settings_reading.show(settings._replace(views=views, keys=keys))
    json = {"path": path, "settings": tomllib.loads(text)}
    lines = [text.rstrip("\n")]
    # Which profile ranks here is left out where it cannot be found out.
    with contextlib.suppress(WorkbenchError), session.reading(remarks=False) as bench:
        used = bench.context.profile
        json |= {"profile": used.name, "profile_from": used.origin}
        lines.insert(0, f"# Profile in use here: {used}.\n")
    return Answer(json, lines)


def _set(call: Call) -> Answer:
    """Set one setting: of the store where it has it, else in the config file."""
    args, session, path = call.args, call.session, paths.config_dir() / loading.FILE_NAME
    require_person(actor_of(args), "change a setting")
    if args.key is None or args.value is None:
        raise InvalidRecord(
            "`config set` needs a KEY and a VALUE.", "`workbench config show` lists the keys."
        )
    if args.key == "profile" and not args.everywhere:
        from workbench.cli.tuning import use

        with session.changing() as bench:
            return use(bench, args.value)
    value = settings_reading.parse_value(args.key, args.value, path.parent)
    if args.key == "profile":
        with session.reading(remarks=False) as bench:
            bench.tuning.profiles.get(args.value)
    before = set_values(path, {args.key: value})[args.key]
    for problem in loading.load(path).problems:
        warn(problem)
    was = "" if before is None or before == value else f" (it was {json.dumps(before)})"
    return Answer(
        {"key": args.key, "value": value, "before": before, "path": path},
        [f"{args.key} is {json.dumps(value)} in {path}{was}."],
    )


def list_stores(call: Call) -> Answer:
    """Print the recent stores; an arrow marks the one that opens here."""
    choice, state = call.session.choice(), paths.state_dir()
    known = recent.recent(state)
    rows, docs = [], []
    for folder in dict.fromkeys((choice.folder, *known)):
        look, here = recent.last_look(state, folder), folder == choice.folder
        seen = f"last opened {moment(look.at)}" if look else "not opened yet"
        docs.append({"folder": folder, "here": here, "looked_at": look.at if look else None})
        why = f"opens here: {_WHY[choice.origin]}" if here else ""
        rows.append(("→" if here else "", paths.name_of(folder), seen, why))
    remarks = [] if known else ["No store opened yet."]
    return Answer(docs, table(rows), remarks)


OPTIONS: Mapping[str, Option] = {
    "what": {"choices": ("show", "path", "set")},
    "key": value("KEY", "set: a key as `show` names it, such as agents.serve"),
    "value": value("VALUE", "set: its value"),
    "--global": flag("set: write the profile to the config file, for all stores without their own")
    | {"dest": "everywhere"},
}

VERBS = (
    Verb("config", config, "show, locate or change settings",
         "what key? value? --global mixed --json", _CONFIG, "show", unopened),
    Verb("stores", list_stores, "list recent stores, and the one that opens here", "--json", "", "--json",
         unopened),
)  # fmt: skip
