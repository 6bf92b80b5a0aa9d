"""A playbook in YAML whose texts are folded over lines: their text and our vote go together."""

from tests.cli.conftest import Cli

BOOK = """schema_version: 2
name: team
bullets:
  - id: b-1
    category: testing
    content: >
      Run the tests before a commit, and
      read what they say.
    helpfulCount: 2
    createdAt: "2025-01-01T00:00:00.000Z"
"""


def test_their_last_line_and_our_count_below_it_do_not_collide(cli: Cli) -> None:
    cli.ok("import", cli.write("playbook.yaml", BOOK))
    cli.ok("vote", "b-1", "helpful")
    theirs = BOOK.replace("read what they say.", "read all that they say,\n      to the end.")
    cli.write("playbook.yaml", theirs)
    assert cli("export", "--format", "cass", "--out", "playbook.yaml", "--merge").code == 0
    merged = (cli.cwd / "playbook.yaml").read_text()
    assert merged == theirs.replace("helpfulCount: 2", "helpfulCount: 3")
