"""Saved views and orders in the command line: the same as the app's."""

import json
from collections.abc import Callable

import pytest

from tests.cli.conftest import Cli
from tests.safety.samples import keys
from workbench.config import paths
from workbench.core.stream.confidence import ORDERS, Arranged, ordered
from workbench.core.stream.memory import Memory

CONFIG = """
[views."wrong lately"]
filter = "type:error,failure"
order = "votes"

[views."the oldest"]
filter = ""
order = "-made"
dates = "absolute"

[views.broken]
filter = "since:never"
"""


@pytest.fixture
def views(demo: Cli) -> Cli:
    """The demo store, and three saved views."""
    paths.config_dir().mkdir(parents=True)
    (paths.config_dir() / "config.toml").write_text(CONFIG)
    return demo


def listed(cli: Cli, *args: str) -> list[dict[str, object]]:
    result = cli("list", "--json", *args, "-n", "0")
    assert result.code == 0, result.err
    found: list[dict[str, object]] = json.loads(result.out)
    return found


def ids(rows: list[dict[str, object]]) -> list[object]:
    return [row["id"] for row in rows]


def test_views_are_listed_with_what_they_show(views: Cli) -> None:
    lines = [line.split("  ") for line in views.ok("views").splitlines()]
    assert [(line[0], line[-1].strip()) for line in lines] == [
        ("wrong lately", "by votes, the most helpful first"),
        ("the oldest", "by made, the oldest first"),
        ("broken", "since:never"),
    ]
    assert views.json("views")[:2] == [
        {"name": "wrong lately", "filter": "type:error,failure", "order": "votes", "dates": ""},
        {"name": "the oldest", "filter": "", "order": "-made", "dates": "absolute"},
    ]


def test_without_a_saved_view_it_says_where_one_is_made(cli: Cli) -> None:
    result = cli("views")
    assert (result.code, result.out) == (0, "")
    assert result.err == "No view was saved yet: f in the Stream, first row.\n"


@pytest.mark.slow
def test_a_view_lists_what_its_filter_finds_in_its_order(views: Cli) -> None:
    found = listed(views, "--view", "wrong lately")
    plain = listed(views, "type:error,failure")
    assert {*ids(found)} == {*ids(plain)}
    votes = [int(str(row["helpful_count"])) - int(str(row["harmful_count"])) for row in found]
    assert votes == sorted(votes, reverse=True)
    assert ids(listed(views, "--view", "the oldest")) == ids(listed(views))[::-1]


@pytest.mark.slow
def test_more_words_narrow_a_view_and_another_order_takes_its_place(views: Cli) -> None:
    narrowed = listed(views, "--view", "wrong lately", "AUTH_SECRET")
    assert 0 < len(narrowed) < len(listed(views, "--view", "wrong lately"))
    assert {row["observation_type"] for row in narrowed} <= {"error", "failure"}
    assert ids(listed(views, "--view", "wrong lately", "--sort", "made")) == ids(
        listed(views, "type:error,failure")
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", [order.id for order in ORDERS if order.key is not None])
def test_each_order_is_the_apps(
    views: Cli, name: str, take: "Callable[[Cli], list[Memory]]"
) -> None:
    memories = take(views)
    for order in (name, f"-{name}"):
        expected = [memory.id for memory in ordered(memories, Arranged(order))]
        assert ids(listed(views, f"--sort={order}")) == expected


@pytest.fixture
def take() -> "Callable[[Cli], list[Memory]]":
    """Return the memories of a store as the Stream lists them."""
    from workbench.services.open import open_workbench

    def taken(cli: Cli) -> list[Memory]:
        return list(open_workbench(cli.store, profiles=cli.cwd).stream.view("").memories)

    return taken


@pytest.mark.slow
def test_by_score_the_best_for_the_words_comes_first(views: Cli) -> None:
    found = ids(listed(views, "deploy", "--sort", "score"))
    searched = [row["id"] for row in views.told("search", "deploy", "-k", "50")]
    known = [id for id in searched if id in found]
    assert len(known) > 3
    assert found[: len(known)] == known
    turned = ids(listed(views, "deploy", "--sort=-score"))
    assert turned[: len(found)] != found
    assert {*turned} == {*found}


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--view", "wrong"), "There is no view “wrong”. Did you mean “wrong lately”?"),
        (
            ("--view", "broken"),
            "The view “broken” cannot be shown: “never” after “since:” is not a time.",
        ),
        (("--sort", "best"), "There is no order “best”. There are: made, read, importance,"),
        (("--sort", "score"), "To sort by score takes words to rank for."),
    ],
)
def test_what_cannot_be_shown_is_said(views: Cli, args: tuple[str, ...], said: str) -> None:
    err = views.refused("list", *args)
    assert err.startswith(f"workbench: {said}")


def test_a_secret_in_the_config_file_is_printed_nowhere(demo: Cli) -> None:
    _, key = keys()["github"]
    word = "".join(("Xk29vLq88", "zzTT01"))
    paths.config_dir().mkdir(parents=True)
    one = f'[views."{key}"]\nfilter = "password={word}"\n'
    other = f'[views."login {key}"]\nfilter = "since:password={word}"\nodd = 1\n'
    (paths.config_dir() / "config.toml").write_text(one + other)
    printed = [demo("views"), demo("views", "--json"), demo("list", "--view", f"login {key}")]
    printed.append(demo("list", "--view", f"login {key[:-1]}"))
    for result in printed:
        assert (key in result.out + result.err, word in result.out + result.err) == (False, False)
    assert json.loads(printed[1].out)[0] == {
        "name": "[secret: GitHub token]", "filter": "password=[secret: password]", "order": "", "dates": "",
    }  # fmt: skip
    assert "Secrets are masked; the config file holds them" in printed[0].err
    assert printed[2].code == 2


def test_the_settings_are_printed_without_the_secrets_of_views_and_keys(cli: Cli) -> None:
    _, key = keys()["github"]
    paths.config_dir().mkdir(parents=True)
    text = f'[views."{key}"]\nfilter = "by {key}"\n[keys]\n"{key}" = "j"\n'
    (paths.config_dir() / "config.toml").write_text(text)
    for args in ((), ("--json",)):
        result = cli("config", "show", *args)
        assert result.code == 0
        assert key not in result.out + result.err
        assert "[secret: GitHub token]" in result.out
        assert "Secrets are masked" in result.err
