"""`workbench check`: does retrieval find what it should? For CI: exit 0 when it does, 1 when not."""

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import counted, plain, say, write_json
from workbench.cli.parsing import Commands, add_command, add_json, wants_json
from workbench.cli.session import Session
from workbench.cli.tuning.profile import profile_of
from workbench.core.errors import UnreadableFile
from workbench.core.text import one_line
from workbench.core.tuning.expectation import expectations

if TYPE_CHECKING:
    from workbench.bench.tuning.checking import Checked, Miss

FOUND_WRONG = 1
"""Exit code when something is not as expected."""

LARGEST = 10 << 20

_DETAILS = """Reads expectations from a TOML file and asks the store as an agent would be served: what is held back,
waits for review or is below the floor is not found. Nothing counts as read. Exit code 0: all hold; 1: some do not;
2: it cannot be checked.
In CI, WORKBENCH_TRUST=PATH says that the store is trusted.

  [[expect]]
  query = "why did the token refresh fail"
  finds = ["mem-20260209-0000015"]      # within the first `top` (default: 5)
  never = ["mem-20260206-0000008"]

  [[expect]]
  query = "recipe for lasagne"
  nothing = true

  [[expect]]
  queries = "queries.jsonl"             # as `workbench eval` reads them
  ndcg = 0.7

  workbench check expectations.toml"""


def add_commands(commands: Commands) -> None:
    """Add `check`."""
    parser = add_command(commands, "check", check, "hold retrieval against expectations", _DETAILS)
    parser.add_argument("file", metavar="FILE", type=Path, help="the expectations, TOML")
    parser.add_argument("--profile", metavar="P", help="the retrieval profile (default: the one in your settings)")
    add_json(parser)


def check(session: Session) -> int:
    """Check every expectation and say which do not hold."""
    args = session.args
    place = session.cwd / args.file.expanduser()
    expected = expectations(_table(place))
    with session.reading() as bench:
        from workbench.bench.tuning.checking import Checker

        bench.retriever.load()
        profile = profile_of(session, bench)
        checker = Checker(bench.context, bench.tuning, bench.evaluator, profile, place.parent)
        checked = list(checker.check(expected))
    failed = [one for one in checked if not one.holds]
    if wants_json(args):
        write_json([_json(one) for one in checked])
    else:
        for one in checked:
            _tell(one)
        rest = f", {len(failed)} not as expected" if failed else ", all hold"
        say(f"{counted(len(checked), 'expectation')} under {profile.name}{rest}.")
    return FOUND_WRONG if failed else 0


def _table(place: Path) -> dict[str, object]:
    try:
        if not place.is_file():
            raise UnreadableFile(f"{place} is no file.", "Nothing was checked.")
        if place.stat().st_size > LARGEST:
            raise UnreadableFile(f"{place} is larger than {LARGEST >> 20} MB.", "Nothing was checked.")
        return tomllib.loads(place.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UnreadableFile(f"{place} cannot be read: {error}.", "Nothing was checked.") from error


def _tell(checked: "Checked") -> None:
    say(f"{'✓' if checked.holds else '✗'} {one_line(checked.expectation.name, 100)}")
    for miss in checked.misses:
        say(f"    {_sentence(checked, miss)}")


def _sentence(checked: "Checked", miss: "Miss") -> str:
    id, wanted = one_line(miss.id, 60), checked.expectation
    match miss.kind:
        case "low":
            why = f", {miss.why}" if miss.why else ""
            return f"{id} stands at {miss.place}{why}; expected within the first {wanted.top}"
        case "found":
            return f"{id} stands at {miss.place}; expected never within the first {wanted.top}"
        case "something":
            return f"{id} is given; expected nothing relevant"
        case "ndcg":
            return f"nDCG@10 is {miss.value:.3f}; expected at least {wanted.ndcg:g}"
        case _:
            return f"{id} is given to nobody: {miss.why}"


def _json(checked: "Checked") -> dict[str, object]:
    misses = plain(checked.misses)
    return {"name": checked.expectation.name, "holds": checked.holds, "misses": misses}
