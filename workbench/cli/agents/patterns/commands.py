"""`workbench pattern`: what agents learned to do, with where it applies and what speaks for it."""

import json
from argparse import ArgumentTypeError

from workbench.cli.agents.patterns import changing, reading
from workbench.cli.parsing import Commands, Parser, add_command, add_json, add_limit, file_or_stdin
from workbench.cli.safety.flags import add_secrets
from workbench.core.agents.patterns.names import CATEGORIES, OUTCOMES, RELATIONS, STATUSES

_PATTERN = """Patterns: strategies, decompositions, sequences, tool choices, failures, recoveries, optimizations and
conventions that proved themselves, each with where it applies and what speaks for it. A candidate gathers evidence
(`apply`), `validate` takes it into use, `find` gives those that fit a task.

  workbench pattern find "the API runs into a timeout" --domain python

An agent adds candidates and records how applying went; deciding is for a person. `workbench undo` takes each back."""

_ADD = """FILE holds a pattern as JSON, or a list of them (- reads stdin). What is wrong is named by its path. Secrets
are masked; an id that a pattern brings is kept. `workbench pattern show ID --json` prints the shape.

  echo '{"name": "Ask first", "category": "strategy", "summary": "Ask before a deploy."}' | workbench pattern add -

Conditions are texts such as: complexity >= 5 and not (domain in [legacy, cobol]). Facts are compared with ==, !=, <,
<=, >, >=, in [a, b], has x; `exists` asks whether a fact is known; and, or, not and parentheses join them."""

_EDIT = """FILE holds a JSON merge patch (- reads stdin): the fields that change, null for one that goes. Where the
pattern stands, what speaks for it and how often it was used stay.

  echo '{"summary": "Ask before any deploy."}' | workbench pattern edit pat-20261124-0000001 -"""

_FIND = """Only patterns that are in use (validated) are found: those that ask for nothing the task does not have. What
the text names counts as type and domain where none is given. A condition on a fact that nobody gave does not hold; a
warning against a fact that nobody gave does not warn. The score is 0.4 confidence + 0.3 success + 0.15 use +
0.1 recency + 0.05 match; --explain shows its parts, and why the others do not apply.

  workbench pattern find "retry the upload" --type api_timeout --fact attempts=2 --explain"""

_APPLY = """Says that the pattern was applied in an episode, and how that went; said again for the same episode, the
last word counts. It speaks for or against the pattern at the next `validate`, for 90 days.

  workbench pattern apply pat-20261124-0000001 ep-20261124-0000007 --outcome success --time 95"""

_FILL = """Fills the template of a pattern; values are JSON, or else a text. Nothing is stored.

  workbench pattern fill pat-20261124-0000001 name=search endpoints='["list", "get"]'"""

_VALIDATE = """Without IDs every pattern is looked at. Of the last 90 days 5 applications are needed; 7 of 10 have to
succeed, more than chance (one-sided exact binomial test, p below 0.05), with a confidence above 0.7. A candidate is
taken into use then; a pattern in use that fails comes under review: `refine` or `deprecate` decides."""

_MERGE = """Makes one pattern of several of the same category: it applies where one of them did, keeps the conditions
they share and every warning, and has the applications of all. They are deprecated in its favour, as one action."""

_PRUNE = """Lists patterns of low confidence (below 0.4), that nobody applied for 90 days, or that more speaks against
than for; with --deprecate those, or the IDs, are taken out of use as one action."""

_IMPORT = """FILE is agent-playbook's semantic-patterns.json. Its confidence stays on its scale (0–1), applications are
counted, and every entry is kept as it was in the pattern's metadata. With enough behind it (5 applications, confidence
above 0.7) a pattern is in use at once, else it is a candidate."""

_EXPORT = """Patterns go back to where they came from (agent-playbook's semantic-patterns.json): of an entry only what
the pattern says otherwise is written, confidence and applications among it; new ones come at the end; whatever else
the file says stays byte for byte. Secrets were masked when they came in; what gives orders goes out only when it is
allowed. Without the file a new one is made."""

_MOVE = """Lists the memories that came in from pattern files by `workbench import`, and what becomes of them: the
confidence goes back to the file's scale (0–1) and applications count. With --yes they become patterns, and the memories
are archived as superseded."""


_ID = "pat-20261124-0000001"


def add_commands(commands: Commands) -> None:
    """Add `pattern` and what is below it."""
    pattern = add_command(commands, "pattern", reading.list_patterns, "keep and find what agents learned", _PATTERN)
    pattern.set_defaults(status=None, category=None, limit=50, json=False, show_secrets=False)
    verbs = pattern.add_subparsers(title="what to do", metavar="VERB", prog=pattern.prog, parser_class=Parser)
    _add_reading(verbs)
    _add_writing(verbs)
    _add_deciding(verbs)
    _add_files(verbs)


def _add_reading(verbs: Commands) -> None:
    listing = add_command(
        verbs, "list", reading.list_patterns, "list patterns, the surest first", example="--status validated"
    )
    listing.add_argument("--status", choices=STATUSES, help="only those that stand so (default: all but deprecated)")
    listing.add_argument("--category", choices=CATEGORIES, help="only those of one category")
    add_limit(listing, 50)
    showing = add_command(
        verbs, "show", reading.show_pattern, "show a pattern with its evidence and applications", example=_ID
    )
    showing.add_argument("id", metavar="ID")
    finding = add_command(verbs, "find", reading.find_patterns, "find the patterns that fit a task", _FIND)
    finding.add_argument("task", metavar="TASK", nargs="?", default="", help="what is to be done, in words")
    finding.add_argument("--type", metavar="T", action="append", default=[], help="the type of problem; several times")
    finding.add_argument("--domain", metavar="D", action="append", default=[], help="the domain; several times")
    finding.add_argument("--complexity", metavar="N", type=float, help="how hard it is, from 0 to 10")
    about = "what is at hand; several times (without one, nobody is asked for it)"
    finding.add_argument("--capability", metavar="C", action="append", default=[], help=about)
    finding.add_argument("--category", choices=CATEGORIES, help="only those of one category")
    about = "a fact that conditions ask about; several times"
    finding.add_argument("--fact", metavar="NAME=VALUE", type=fact, action="append", default=[], help=about)
    finding.add_argument("--candidates", action="store_true", help="look among the candidates, too")
    finding.add_argument(
        "--explain", action="store_true", help="show the parts of each score, and why others are missing"
    )
    about = "serve this agent: what it is given is kept as read by it"
    finding.add_argument("--for-agent", metavar="NAME", dest="actor", help=about)
    finding.add_argument("--session", metavar="S", default="", help="with --for-agent: the agent's session")
    add_limit(finding, 5)
    alike = add_command(verbs, "similar", reading.similar_patterns, "show patterns that resemble one", example=_ID)
    alike.add_argument("id", metavar="ID")
    filling = add_command(verbs, "fill", reading.fill_template, "fill the template of a pattern", _FILL)
    filling.add_argument("id", metavar="ID")
    filling.add_argument("values", metavar="NAME=VALUE", nargs="*", type=fact, help="a value of a parameter")
    tree = add_command(verbs, "tree", reading.show_tree, "show the decision tree over the patterns in use", example="")
    for parser in (listing, showing, finding, alike, filling):
        add_secrets(parser)
    for parser in (listing, showing, finding, alike, filling, tree):
        add_json(parser)


def _add_writing(verbs: Commands) -> None:
    adding = add_command(verbs, "add", changing.add_patterns, "add patterns", _ADD, example="patterns.json")
    adding.add_argument("file", metavar="FILE", type=file_or_stdin)
    editing = add_command(
        verbs, "edit", changing.edit_pattern, "change what a pattern says", _EDIT, example=f"{_ID} change.json"
    )
    editing.add_argument("id", metavar="ID")
    editing.add_argument("file", metavar="FILE", type=file_or_stdin)
    applying = add_command(verbs, "apply", changing.record_application, "record how applying a pattern went", _APPLY)
    applying.add_argument("id", metavar="ID")
    applying.add_argument("episode", metavar="EPISODE", help="what names the episode")
    applying.add_argument("--outcome", choices=OUTCOMES, required=True, help="how it went")
    applying.add_argument("--task", metavar="TEXT", default="", help="what was to be done")
    applying.add_argument("--note", metavar="TEXT", default="", help="what to know about it")
    applying.add_argument("--time", metavar="SECONDS", type=amount, help="how long it took")
    applying.add_argument("--cost", metavar="N", type=amount, help="what it cost, in the unit of the baseline")
    validating = add_command(
        verbs, "validate", changing.validate_patterns, "weigh the evidence of patterns", _VALIDATE, example="--dry-run"
    )
    validating.add_argument("ids", metavar="ID", nargs="*")
    validating.add_argument("--dry-run", action="store_true", help="say what would come of it, and change nothing")
    for parser in (adding, editing, applying, validating):
        add_json(parser)


def _add_deciding(verbs: Commands) -> None:
    for verb, about, why in (
        ("approve", "take a candidate into use on your word", ""),
        ("refine", "take one that is under review back into use; its evidence begins anew", "the cause is mended"),
        ("deprecate", "take a pattern out of use for good", "it is gone"),
        ("restore", "make a deprecated pattern a candidate again", ""),
    ):
        example = _ID + (f' --reason "{why}"' if why else "")
        parser = add_command(verbs, verb, changing.DECISIONS[verb], about, example=example)
        parser.add_argument("id", metavar="ID")
        if verb != "restore":
            parser.add_argument("--reason", metavar="TEXT", default="", required=verb == "deprecate", help="why")
        add_json(parser)
    superseding = add_command(
        verbs, "supersede", changing.supersede_pattern, "deprecate one in favour of another",
        example=f"{_ID} pat-20261124-0000002",
    )  # fmt: skip
    superseding.add_argument("id", metavar="ID")
    superseding.add_argument("by", metavar="BY", help="the pattern that takes its place")
    superseding.add_argument("--reason", metavar="TEXT", default="", help="why")
    merging = add_command(
        verbs, "merge", changing.merge_patterns, "make one pattern of several", _MERGE,
        example=f"{_ID} pat-20261124-0000002",
    )  # fmt: skip
    merging.add_argument("ids", metavar="ID", nargs="+")
    relating = add_command(
        verbs, "relate", changing.relate_patterns, "say how two patterns stand to each other",
        example=f"{_ID} specializes pat-20261124-0000002",
    )  # fmt: skip
    relating.add_argument("id", metavar="ID")
    relating.add_argument("relation", metavar="RELATION", choices=RELATIONS, help=", ".join(RELATIONS))
    relating.add_argument("other", metavar="ID")
    relating.add_argument("--remove", action="store_true", help="say it no longer")
    pruning = add_command(
        verbs, "prune", changing.prune_patterns, "list patterns that are worth little", _PRUNE, example="--deprecate"
    )
    pruning.add_argument("ids", metavar="ID", nargs="*")
    pruning.add_argument("--deprecate", action="store_true", help="take them out of use")
    for parser in (superseding, merging, pruning):
        add_json(parser)


def _add_files(verbs: Commands) -> None:
    importing = add_command(
        verbs, "import", changing.import_patterns, "take in a file of patterns", _IMPORT,
        example="patterns.json --dry-run",
    )  # fmt: skip
    importing.add_argument("file", metavar="FILE")
    importing.add_argument("--dry-run", action="store_true", help="say what it would bring, and change nothing")
    moving = add_command(
        verbs, "move", changing.move_memories, "make patterns of memories from such files", _MOVE, example="--yes"
    )
    moving.add_argument("--yes", action="store_true", help="do it")
    writing = add_command(
        verbs, "export", changing.export_patterns, "write them into agent-playbook's file", _EXPORT,
        example="patterns.json",
    )  # fmt: skip
    writing.add_argument("file", metavar="FILE", help="the file they came from, or a new one")
    writing.add_argument("ids", metavar="ID", nargs="*", help="which ones (otherwise: all that are not deprecated)")
    for parser in (importing, moving, writing):
        add_json(parser)


def fact(text: str) -> tuple[str, object]:
    """Read NAME=VALUE; a value that is no JSON is a text."""
    name, mark, value = text.partition("=")
    if not mark or not name.strip():
        raise ArgumentTypeError(f"“{text}” is not NAME=VALUE")
    try:
        return name.strip(), json.loads(value)
    except (ValueError, RecursionError):
        return name.strip(), value


def amount(text: str) -> float:
    """Read a number that is not negative."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e15:
        raise ArgumentTypeError(f"“{text}” is no amount")
    return value
