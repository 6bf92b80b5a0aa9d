"""`workbench model`: which embedding model this machine uses, and using another one."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import fail, say, say_table, warn, write_json
from workbench.cli.parsing import Commands, add_command, add_json, wants_json
from workbench.cli.progress import ProgressLine, progressing
from workbench.cli.session import INTERRUPTED, Session, actor_of
from workbench.config import loading, paths
from workbench.config.writing import set_values
from workbench.core.agents.actors import require_person
from workbench.core.record import InvalidRecord
from workbench.core.text import counted, one_line

if TYPE_CHECKING:
    from workbench.services.open import Workbench
    from workbench.services.tuning.evaluation import Compared, Model

BUNDLED = "bundled"
LONG = 2000
"""Texts above which embedding them shows its progress."""

MOST = 5
"""Queries that are named in each direction."""

SHOWN = 60
"""Cells of a query."""

_DETAILS = """show (or nothing) says which embedding model is used. use DIR takes the model2vec model in a folder
instead, such as a multilingual one, and `use bundled` the one that comes with the workbench. It is a setting of this
machine, in its config file, for all stores; a folder that is no model is refused. The memories of the store that opens
here are embedded anew at once, those of other stores when they are next searched, in the background of the app; going
back costs nothing. What that changes in the store's judged queries is said. A program that runs already goes on with
its model. An agent cannot set it."""


def add_commands(commands: Commands) -> None:
    """Add `model`."""
    parser = add_command(
        commands, "model", model, "say which embedding model is used, or use another one", _DETAILS,
        example="use ~/models/multilingual",
    )  # fmt: skip
    parser.add_argument(
        "what",
        metavar="ACTION",
        nargs="?",
        choices=("show", "use"),
        default="show",
        help="show or use",
    )
    about = f"use: a folder with model.safetensors, tokenizer.json and config.json, or “{BUNDLED}”"
    parser.add_argument("folder", metavar="DIR", nargs="?", help=about)
    add_json(parser)


def model(session: Session) -> int:
    """Say which model is used, or use another one."""
    from workbench.services.tuning.evaluation import model_at

    args = session.args
    if args.what == "use":
        return _use(session)
    if args.folder is not None:
        raise InvalidRecord(
            "`model show` takes nothing else.", "`workbench model use DIR` uses another model."
        )
    found = model_at(session.settings().settings.model)
    if wants_json(args):
        write_json(_json(found))
    else:
        say(f"{_told(found)}.")
    return 0


def _use(session: Session) -> int:
    """Write the setting, and rank the judged queries with both models."""
    from workbench.services.tuning.evaluation import model_at

    args, path = session.args, paths.config_dir() / loading.FILE_NAME
    require_person(actor_of(args), "choose the embedding model")
    if args.folder is None:
        raise InvalidRecord(
            "`model use` needs a folder.",
            f"`workbench model use {BUNDLED}` goes back to the bundled one.",
        )
    folder = (
        None
        if args.folder == BUNDLED
        else (session.cwd / Path(args.folder).expanduser()).absolute()
    )
    before, found = session.settings().settings.model, model_at(folder)
    set_values(path, {"model": "" if folder is None else str(folder)})
    if not wants_json(args):
        say(f"{_told(found)}.")
        say(f"That is set in {path}, for all stores.")
    if folder == before:
        if wants_json(args):
            write_json({**_json(found), "path": path, "queries": None})
        return 0
    with session.reading(remarks=False) as bench:
        return _compared(session, bench, found, path)


def _compared(session: Session, bench: "Workbench", found: "Model", path: Path) -> int:
    from workbench.core.record import WorkStopped
    from workbench.services.tuning.evaluation import try_model

    line, folder = (
        ProgressLine("embedding the memories", LONG),
        None if found.is_bundled else found.folder,
    )
    try:
        with progressing(line) as cancelled:
            profiles, profile = bench.tuning.profiles, bench.tuning.default()
            change = try_model(
                bench.context, bench.retriever, profiles, profile, folder, line, cancelled
            )
    except WorkStopped as stopped:
        fail(stopped)
        warn("The model is set anyway.")
        return INTERRUPTED
    memories = len(bench.library.memories)
    if wants_json(session.args):
        queries = None if change is None else _change_json(bench, change)
        write_json({**_json(found), "path": path, "memories": memories, "queries": queries})
        return 0
    say(f"{counted(memories, 'memory', 'memories')} of this store embedded.")
    if change is None:
        say("No judged query tells which model ranks better here (J in Tune grades).")
    else:
        _print(bench, change)
    return 0


def _print(bench: "Workbench", change: "Compared") -> None:
    before, now = (result.mean["ndcg@10"] for result in (change.base, change.new))
    queries = counted(change.verdict.queries, "judged query", "judged queries")
    say(f"{queries} under {change.new.profile.name}: nDCG@10 {before:.3f} → {now:.3f}")
    say(change.verdict.sentence)
    changed = sorted(_differences(bench, change))
    down, up = (
        [row for row in changed if row[0] < 0][:MOST],
        [row for row in changed if row[0] > 0][-MOST:],
    )
    rows = [
        ("  " + one_line(query, SHOWN), f"{was:.2f}", "→", f"{is_now:.2f}")
        for _, query, was, is_now in (*reversed(up), *reversed(down))
    ]
    say_table(rows, right=(1, 3))


def _differences(
    bench: "Workbench", change: "Compared"
) -> "Iterator[tuple[float, str, float, float]]":
    """Yield how much each query gained, the query, and its nDCG@10 before and now."""
    for was, now in zip(change.base.queries, change.new.queries, strict=True):
        values = was.values["ndcg@10"], now.values["ndcg@10"]
        yield (values[1] - values[0], bench.safety.masked(now.query), *values)


def _told(found: "Model") -> str:
    which = "the bundled one" if found.is_bundled else str(found.folder)
    return f"The embedding model is {which}: {found.dim:,} dimensions, {found.tokens:,} tokens"


def _json(found: "Model") -> dict[str, object]:
    return {
        "folder": found.folder, "bundled": found.is_bundled, "dimensions": found.dim, "tokens": found.tokens,
        "fingerprint": found.fingerprint,
    }  # fmt: skip


def _change_json(bench: "Workbench", change: "Compared") -> dict[str, object]:
    verdict = change.verdict
    return {
        "profile": change.new.profile.name, "before": change.base.mean, "now": change.new.mean,
        "better": verdict.wins, "worse": verdict.losses, "same": verdict.ties, "verdict": verdict.outcome,
        "sentence": verdict.sentence,
        "changed": [
            {"query": query, "before": was, "now": now} for gain, query, was, now in _differences(bench, change) if gain
        ],
    }  # fmt: skip
