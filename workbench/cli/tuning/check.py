"""`workbench check`: does the store still answer as it is expected to? For CI."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.naming import nearest
from workbench.cli.output import say, warn, write_json
from workbench.cli.parsing import Commands, add_command, add_json, wants_json, zone
from workbench.cli.progress import ProgressLine, progressing
from workbench.cli.session import FOUND, INTERRUPTED, Session
from workbench.cli.tuning.profile import profile_in_use, profile_of
from workbench.core.stream.memory import hidden_because
from workbench.core.text import counted, one_line
from workbench.core.tuning.measure import Checked, Expected, QualityExpected, Shortfall, Why

if TYPE_CHECKING:
    from workbench.services.open import Workbench
    from workbench.services.tuning.checks import Checking

LONG = 2000
"""Texts above which embedding them shows its progress."""

SHOWN = 80
"""Cells of a query."""

_DETAILS = """Asks the store as an agent is served: what is held back, waits for review or is below the floor is not
found. An id that was merged into another memory stands for that. FILE is TOML, or JSON lines, one such object a line:

  [[expect]]
  query = "why did the token refresh fail"
  finds = ["mem-20260209-0000015"]      # within the first `top` (default: 5)
  never = ["mem-20260206-0000008"]
  now = 2026-03-20T18:00:00Z            # asked then (default: now); name = "what the report calls it"

  [[expect]]
  query = "recipe for lasagne"
  nothing = true                        # nothing here is relevant

  [[expect]]
  queries = "queries.jsonl"             # as `workbench eval` reads them, from the folder of FILE
  ndcg = 0.7                            # nDCG@10; or metric = "recall@5" (mrr@K, p@K) and at_least = 0.6

Times without an offset are UTC, or of --tz. It only looks: nothing counts as read.
In CI, WORKBENCH_TRUST=PATH says that the store is trusted.
Exit code: 0 when all pass, 1 when some fail, 2 when it cannot be checked.

  workbench check expectations.toml"""

_WORDS: Mapping[Why, str] = {
    "below": "{id} ranks {place:,}; expected within the first {top:,}",
    "weak": "{id} ranks {place:,}, below the floor; expected within the first {top:,}",
    "held": "{id} is not served: held back for what it says",
    "unapproved": "{id} is not served to such an agent: no human wrote or approved it",
    "hidden": "{id} is not served: {hidden}",
    "unknown": "{id} is not served: it is not in the store{near}",
    "left out": "{id} is not served: the profile leaves it out",
    "irrelevant": "{id} is not served: nothing here is relevant to the query",
    "unwanted": "{id} ranks {place:,}; expected never within the first {top:,}",
    "relevant": "{id} is served; expected nothing relevant",
    "low": "{metric} is {value:.4f}; expected at least {least:g}",
}

_KINDS: Mapping[Why, str] = {
    "below": "low", "weak": "low", "unwanted": "found", "relevant": "something", "low": "metric",
}  # fmt: skip
"""What `--json` calls a shortfall; a memory that is given to nobody is `absent`."""


def add_commands(commands: Commands) -> None:
    """Add `check`."""
    parser = add_command(
        commands, "check", check, "check what a store answers against a file, for CI", _DETAILS
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="the expectations")
    parser.add_argument(
        "--profile", metavar="P", help="the retrieval profile (default: the one in use)"
    )
    about = "as this agent is served, where the settings tell agents apart"
    parser.add_argument("--for-agent", metavar="NAME", default="check", help=about)
    about = "the zone of times without an offset: Asia/Tokyo (default: UTC)"
    parser.add_argument("--tz", metavar="ZONE", type=zone, default="UTC", help=about)
    add_json(parser)


def check(session: Session) -> int:
    """Check every expectation and say which are not met, and why."""
    from workbench.services.tuning.checks import Checking, read_expectations

    args = session.args
    path = session.cwd / args.file.expanduser()
    expectations = read_expectations(path, args.tz)
    with session.reading() as bench:
        profile = profile_of(session, bench)
        context = replace(bench.context, actor=f"agent:{args.for_agent}")
        checking = Checking(context, bench.tuning, bench.evaluator, profile, path.parent)
        done, stopped = _checked(bench, checking, expectations)
        for remark in checking.remarks:
            warn(remark)
        if wants_json(args):
            write_json([_json(bench, one) for one in done])
        else:
            _print(bench, done, str(profile_in_use(session, bench)), args.file)
    if stopped:
        warn(f"Stopped by ctrl+c after {len(done):,} of {len(expectations):,} expectations.")
        return INTERRUPTED
    return 0 if all(one.passes for one in done) else FOUND


def _checked(
    bench: "Workbench", checking: "Checking", expectations: Sequence[Expected]
) -> tuple[tuple[Checked, ...], bool]:
    """Check; the flag says whether ctrl+c was pressed."""
    from workbench.core.record import WorkStopped

    reading, asking = ProgressLine("reading the memories", LONG), ProgressLine("checking", 20)
    with progressing(reading, asking) as cancelled, suppress(WorkStopped):
        bench.retriever.load(reading, cancelled)
        reading.clear()
        return checking.check(expectations, asking, cancelled), cancelled()
    return (), True


def _print(bench: "Workbench", done: Sequence[Checked], profile: str, file: Path) -> None:
    for one in done:
        line = f" ({file}:{one.expected.line})" if one.expected.line and not one.passes else ""
        say(f"{'✓' if one.passes else '✗'} {_title(bench, one.expected)}{line}")
        for short in one.shortfalls:
            say(f"    {_reason(bench, one, short)}")
    failed = sum(not one.passes for one in done)
    rest = f", {failed:,} not as expected" if failed else ", all pass"
    say(f"{counted(len(done), 'expectation')} under {profile}{rest}.")


def _title(bench: "Workbench", expected: Expected) -> str:
    about = expected.queries if isinstance(expected, QualityExpected) else expected.query
    return bench.safety.masked(one_line(expected.name or about, SHOWN))


def _reason(bench: "Workbench", one: Checked, short: Shortfall) -> str:
    facts: dict[str, object] = {
        "id": one_line(short.id, 60),
        "place": short.place,
        "value": short.value,
    }
    if isinstance(one.expected, QualityExpected):
        facts |= {"metric": one.expected.measure.title, "least": one.expected.at_least}
    else:
        memory = bench.library.memories.find(short.id)
        at = one.expected.now or bench.context.now()
        facts |= {
            "top": one.expected.top,
            "hidden": memory and hidden_because(memory, at),
            "near": "",
        }
        if short.why == "unknown":
            close = nearest(short.id, [memory.id for memory in bench.library.memories.all()])
            facts["near"] = f" (did you mean {close}?)" if close else ""
    return bench.safety.masked(_WORDS[short.why].format(**facts))


def _json(bench: "Workbench", one: Checked) -> dict[str, object]:
    misses = [
        {"kind": _KINDS.get(short.why, "absent"), "id": short.id, "place": short.place, "value": short.value,
         "reason": short.why, "why": _reason(bench, one, short)}
        for short in one.shortfalls
    ]  # fmt: skip
    about = {"name": _title(bench, one.expected), "line": one.expected.line or None}
    return {**about, "holds": one.passes, "value": one.value, "misses": misses}
