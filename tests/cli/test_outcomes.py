"""One table for all commands: what is refused in one sentence, and what an empty store answers."""

import shlex

import pytest

from tests.cli.conftest import Cli, files_of
from workbench.config.paths import shipped

MEMORY = "mem-20260206-0000009"
QUERIES, MEMORIES = (
    str(shipped("fixtures/demo") / f"{name}.jsonl") for name in ("queries", "memories")
)

NAMED = {
    "memory": MEMORY, "candidate": "mem-20260302-0000147", "queries": QUERIES, "memories": MEMORIES,
    "long": "x" * 10_001,
}  # fmt: skip

REFUSED = (
    ("vote mem-none helpful", "There is no memory or bullet mem-none in this store"),
    ("vote {memory} up", "Did you mean helpful?"),
    ("vote {memory} down", "Did you mean harmful?"),
    ("ingest ' \n'", "The text is empty. Nothing was written."),
    ("ingest {long}", "10,001 characters; at most 10,000"),
    ("ingest x --rated-by mine", "invalid choice"),
    ("append ''", "The text is empty"),
    ("append {long}", "at most 10,000"),
    ("edit nope text", "nope"),
    ("edit {memory} ' '", "empty"),
    ("edit {memory} {long}", "1 characters too long"),
    ("edit {memory} --importance 11", "not a number from 0 to 10"),
    ("edit {memory} --importance nan", "not a number from 0 to 10"),
    ("edit {memory} --confidence 6", "must be a whole number from 0 to 5"),
    ("edit {memory} --type nonsense", "invalid choice"),
    ("edit {memory} --status archived", "invalid choice"),
    ("edit {memory} --related {memory}", "cannot be related to itself"),
    ("edit {memory} --related gone", "There is no memory gone"),
    ("edit {memory} --also mem-20260206-0000008 --content one", "for one memory only"),
    ("edit {memory} one --content two", "TEXT and --content were both given"),
    ("edit m{memory} --add-tag x", "Did you mean {memory}?"),
    ("edit shr-00001 --importance 3", "is a bullet"),
    ("forget shr-00001", "is a bullet"),
    ("forget {memory} nope", "nope"),
    ("unforget {memory}", "cannot be restored"),
    ("bullet add nowhere x", "There is no section “nowhere”"),
    ("bullet edit nope x", "nope"),
    ("bullet edit {memory} x", "is a memory"),
    ("bullet edit shr-00001 ' '", "needs text"),
    ("bullet list --book other", "playbook other"),
    ("archive --before 2026-04-01 --status archived", "They are already archived."),
    ("purge mem-none --yes-erase mem-none", "Nothing was erased."),
    ("list since:never", "“never” after “since:” is not a time"),
    ("list --at 9999", "There is no revision 9999. The latest is "),
    ("list --at=soon", "“soon” is neither a revision nor a time. Write 42, 36h, 7d"),
    ("list --at=-1", "is neither a revision nor a time"),
    ("list --sort best", "Unknown order “best”."),
    ("list --sort score", "needs words to search for"),
    ("list --view wrong", "Unknown view “wrong”."),
    ("list -n '\x1b]0;x\x07'", "must be a whole number"),
    ("--at 1 pin mem-1", "does not take --at"),
    ("--at 1 status", "does not take --at"),
    ("--at 1 undo", "does not take --at"),
    ("--at 1 search x --for-agent a", "--at is read-only"),
    ("--at 1 review list", "does not take --at"),
    ("show 9999999", "There is no memory or bullet 9999999"),
    ("show 1", "stands for several: "),
    ("show {memory} --at 0", "{memory} did not exist at revision 0."),
    ("history mem-none", "mem-none was never in this store."),
    ("undo --rev 9999", "There is no change with revision 9999. Nothing was changed."),
    ("undo --group import-none", "There is no change called import-none. Nothing was changed."),
    ("undo --rev 1 --group x", "not allowed with"),
    ("search ' \t '", "The query is empty."),
    ("search x -k 0", "“0” must be a whole number above 0."),
    ("search x --now soon", "“soon” is not a time. Write 36h, 7d, "),
    ("search x --profile mine", "Unknown profile “mine”. Known ones: workbench, engram, "),
    ("search x --for-agent bot --show-secrets", "Agents are not shown secrets."),
    ("search x --session s-1", "--session"),
    ("context ' '", "The task is empty"),
    ("context --eval none.jsonl", "none.jsonl"),
    ("reads read-none", "no request read-none"),
    ("recall ' '", "The query is empty"),
    ("recall {long}", "at most 1,000"),
    ("recall x --for-agent a --show-secrets", "Agents are not shown secrets"),
    ("documents gone", "cannot be opened"),
    ("documents --trust", "need one"),
    ("documents /memories/../etc", "There is no document"),
    ("documents gone.md --write gone.txt", "cannot be read"),
    ("eval {queries} --profile nope", "Unknown profile “nope”. Known ones: workbench, "),
    ("eval {memories}", "no queries"),
    ("eval none.jsonl", "none.jsonl"),
    ("tune {queries} --metric map@10", "“map@10” is not a metric"),
    ("tune {queries} --folds 1", "two folds"),
    ("tune {queries} --folds 0", "must be a whole number"),
    ("tune {queries} --save engram --force", "built-in"),
    ("tune --use nope", "nope"),
    ("tune --use engram --save x", "--use cannot be combined"),
    ("config set profile nope", "nope"),
    ("config set profile nope --global", "nope"),
    ("config set profile", "config set"),
    ("config set reflection.hours soon", "reflection.hours"),
    ("config set retrieval.floor perhaps", "retrieval.floor"),
    ("config set nothing 1", "nothing"),
    ("model use", "model use"),
    ("model show x", "model show"),
    ("model drop", "invalid choice"),
    ("queries export", "`queries export` needs a FILE"),
    ("queries measure", "`queries measure` needs a FILE"),
    ("queries list x", "takes no file"),
    ("queries list --format run", "go with `queries export`"),
    ("queries export x --profile engram", "--profile goes with --format run"),
    ("queries export x --json", "--json does not go"),
    ("queries export x --format run --profile mine", "Unknown profile “mine”"),
    ("queries export no/such/folder/x", "does not exist"),
    ("queries measure nowhere.run", "File not found"),
    ("import missing --format casette", "Unknown format “casette”. Known formats: "),
    ("convert missing.txt what.ever", "missing.txt"),
    ("export --format word", "word"),
    ("export --format notes", "--out"),
    ("export --format json --dry-run", "--dry-run"),
    ("export --format jsonl --front-matter", "--front-matter"),
    ("export --format jsonl --book x", "--book does not go with --format jsonl. Nothing was written."),
    ("export --format jsonl --section x", "--section"),
    ("export --format jsonl --filter since:never", "is not a time"),
    ("export --format jsonl --out .", " is a folder"),
    ("export --format jsonl --out no/such/file", "/no/such does not exist."),
    ("export --format ace --filter x", "--filter does not go with --format ace. Nothing was written."),
    ("export --format ace --book x", "Unknown playbook x. Known ones: playbook."),
    ("export --format csv --section nowhere", "No section is called “nowhere”"),
    ("export --format queries --min-helpful 1", "--min-helpful"),
    ("export --format json --filter x --book playbook", "--book"),
    ("export --format skillbook --dialect bare", "--dialect"),
    ("export --format prompt --reason x", "--reason"),
    ("watch nowhere", "nowhere"),
    ("watch --follow --json", "--json"),
    ("dedup --threshold 0", "at most 1"),
    ("dedup --threshold much", "at most 1"),
    ("review approve", "Name ids, or --filter and --kind"),
    ("review approve prune-nobody-1", "No open proposal prune-nobody-1. Nothing was changed."),
    ("review reject {memory} {candidate}", "That memory is "),
    ("review later {candidate} mem-20260302-000014", "Did you mean mem-20260302-000014"),
    ("review merge {candidate} nobody", "There is no memory nobody to merge into."),
    ("review promote nobody --to CLAUDE.md", "There is no memory or proposal nobody."),
    ("review promote {memory} --to Makefile", "Makefile is not a Markdown file."),
    ("review promote {memory} --to playbook:none", "No playbook has a section “none”."),
    ("review promote {memory} --to CLAUDE.md --title x", "--title and --name are for memory files and skills."),

    ("review promote {memory} {candidate} --to skill --name one", "Title and name apply to one memory only."),
    ("review show file-nothing --quick", "`workbench review list`"),
    ("review list --kind odd", "Unknown kind “odd”."),
    ("review aprove", "Did you mean approve?"),
    ("reflect --reflector oracle", "invalid choice"),
    ("reflect --reflector claude", "Set the environment variable ANTHROPIC_API_KEY"),
    ("curate --book playbook", "ANTHROPIC_API_KEY"),
    ("curate --book nope", "Unknown playbook nope"),
    ("episode show nope", "nope"),
    ("episode note nope x", "nope"),
    ("episode add none.json", "none.json"),
    ("episode find x --for-agent c --show-secrets", "Agents are not shown secrets"),
    ("pattern find", "The task is empty."),
    ("consolidate --stages dreams", "Unknown stage “dreams”. Stages are: episodes"),
    ("consolidate --dry-run --report x.md", "A dry run has no report."),
    ("scan none.txt", "none.txt cannot be read: no such file or directory. Check the name."),
    ("scan .", ". is a folder. Give the files in it."),
    ("lint missing.txt", "missing.txt"),
    ("check none.toml", "cannot be read: no such file"),
    ("check /dev/zero", "is not a regular file"),
    ("demo", "The demo creates its own store. Use --into DIR to choose the folder."),
)  # fmt: skip
"""Commands on the demo store, and a part of what is said; `NAMED` stands for the braces."""


@pytest.mark.parametrize(("command", "said"), REFUSED, ids=[row[0] for row in REFUSED])
def test_what_cannot_be_done_is_one_sentence_and_changes_nothing(
    command: str, said: str, demo: Cli
) -> None:
    before = files_of(demo.store), files_of(demo.cwd)
    err = demo.refused(*shlex.split(command.format(**NAMED)))
    (sentence,) = (line for line in err.splitlines() if "queries have no relevant" not in line)
    assert said.format(**NAMED) in sentence
    assert sentence.isprintable()
    assert (files_of(demo.store), files_of(demo.cwd)) == before


EMPTY = (
    ("list", 0, "", "No memories yet"),
    ("search anything", 0, "", "No memories yet; `workbench import`"),
    ("search anything --json", 0, "[]\n", "No memories yet"),
    ("views", 0, "", "No saved views yet"),
    ("reads", 0, "", "No agent has read"),
    ("index", 0, "# Memory index\n\n0 memories: none\n", ""),
    ("history", 0, "", "No history yet."),
    ("history --json", 0, "[]\n", ""),
    ("undo", 2, "", "Nothing to undo."),
    ("redo", 2, "", "Nothing to redo."),
    ("review list", 0, "", "Nothing waits"),
    ("upkeep --dry-run", 0, "Nothing to propose.\n", ""),
    ("reflect --force", 2, "", "No memories to reflect on yet."),
    ("queries list", 0, "", "No queries are saved yet"),
    ("queries export x", 2, "", "No saved queries yet"),
    ("queries export x --format run", 2, "", "No saved queries yet"),
    ("queries export x --format qrels", 2, "", "No judged queries yet"),
    ("queries export x --format judgments", 2, "", "No judged queries yet"),
    (f"eval {QUERIES}", 2, "", "no memories"),
    (f"tune {QUERIES}", 2, "", "no memories"),
    ("episode", 0, "", "`workbench episode add FILE` adds one"),
    ("pattern", 0, "", "`workbench pattern add FILE`"),
    ("plan list", 0, "", "No plans yet"),
    ("scan", 0, "Nothing is flagged.\n", ""),
    ("scan --mask", 2, "", "No secret was found"),
    ("watch", 0, "", "No file changed."),
)


@pytest.mark.parametrize(("command", "code", "out", "said"), EMPTY, ids=[row[0] for row in EMPTY])
def test_an_empty_store_answers_what_to_do(
    command: str, code: int, out: str, said: str, cli: Cli
) -> None:
    cli.ok("init")
    before = cli.files()
    result = cli(*command.split())
    assert result.code == code
    assert result.out == out
    assert said in result.err, result.err
    assert cli.files() == before
    assert list(cli.cwd.iterdir()) == []
