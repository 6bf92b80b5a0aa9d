"""The settings: defaults, soft reading, and the text that reads back."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from workbench.config.loading import Loaded, Settings, load
from workbench.config.settings import MemorySettings
from workbench.config.settings_reading import show
from workbench.core.agents.actors import AgentSettings
from workbench.core.limits import DedupThresholds, LifecycleLimits, LlmSettings, TriggerLimits


def read(folder: Path, text: str | bytes) -> Loaded:
    path = folder / "config.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load(path)


def test_a_missing_file_means_the_defaults(tmp_path: Path) -> None:
    assert load(tmp_path / "config.toml") == Loaded(Settings())
    assert list(tmp_path.iterdir()) == []


def test_every_setting_is_read(tmp_path: Path) -> None:
    loaded = read(
        tmp_path,
        """
        theme = ""
        profile = "mine"
        model = "models/big"
        editor = "code --wait"
        importance = "code"
        [thresholds]
        duplicate = 0.8
        review = 0.5
        order = 80
        [reflection]
        importance = 99.5
        observations = 10
        hours = 12
        [lifecycle]
        signal_days = 1
        candidate_days = 2
        confirmed_days = 3.5
        [keys]
        "memory.pin" = "ctrl+p,p"
        list.down = "n"
        """,
    )
    assert loaded.problems == ()
    assert loaded.settings == Settings(
        theme="",
        profile="mine",
        model=tmp_path / "models" / "big",
        editor="code --wait",
        importance="code",
        keys={"memory.pin": "ctrl+p,p", "list.down": "n"},
        thresholds=DedupThresholds(flag=0.8, review=0.5, order=80.0),
        reflection=TriggerLimits(99.5, 10, 12.0),
        lifecycle=LifecycleLimits(signal_days=1.0, candidate_days=2.0, confirmed_days=3.5),
    )
    assert {"theme", "thresholds.duplicate", "keys.list.down"} <= loaded.given


def test_only_keys_that_hold_are_given(tmp_path: Path) -> None:
    loaded = read(tmp_path, 'theme = 3\nprofile = "workbench"\n')
    assert loaded.given == {"profile"}


def test_the_home_folder_is_expanded_in_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert read(tmp_path, 'model = "~/m"').settings.model == tmp_path / "home" / "m"
    assert read(tmp_path, 'model = "/m"').settings.model == Path("/m")
    assert read(tmp_path, 'model = ""').settings.model is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('themee = "x"', 'config.toml: unknown key "themee"; did you mean "theme"?'),
        ("duplicat = 1", 'config.toml: unknown key "duplicat"; did you mean "thresholds.duplicate"?'),
        ("[threshold]\nreview = 1", 'config.toml: unknown key "threshold"; did you mean "thresholds"?'),
        (
            "[thresholds]\nduplicate_ = 1",
            'config.toml: unknown key "thresholds.duplicate_"; did you mean "thresholds.duplicate"?',
        ),
        ("xyzzy = 1", 'config.toml: unknown key "xyzzy"; it is ignored.'),
        (
            "theme = 3",
            'config.toml: "theme" is 3; expected a theme\'s name, or "" for the terminal\'s own colours, '
            'so "workbench-dark" stays.',
        ),
        (
            'importance = "mine"',
            'config.toml: "importance" is "mine"; expected "general" or "code", so "general" stays.',
        ),
        ('profile = " "', 'config.toml: "profile" is " "; expected a profile\'s name, so "workbench" stays.'),
        (
            "[thresholds]\nduplicate = 2.5",
            'config.toml: "thresholds.duplicate" is 2.5; expected a number from 0 to 1, so 0.88 stays.',
        ),
        (
            "[thresholds]\nreview = nan",
            'config.toml: "thresholds.review" is nan; expected a number from 0 to 1, so 0.71 stays.',
        ),
        (
            "[reflection]\nobservations = 1.5",
            'config.toml: "reflection.observations" is 1.5; expected a whole number from 1 to 1000000, so 100 stays.',
        ),
        (
            "[reflection]\nimportance = true",
            'config.toml: "reflection.importance" is true; expected a number from 1 to 1000000, so 150 stays.',
        ),
        (
            "[reflection]\nhours = inf",
            'config.toml: "reflection.hours" is inf; expected a number from 0.1 to 87600, so 24 stays.',
        ),
        (
            "[lifecycle]\nsignal_days = 0",
            'config.toml: "lifecycle.signal_days" is 0; expected a number of days from 1 to 36500, so 14 stays.',
        ),
        ("lifecycle = 3", 'config.toml: "lifecycle" is 3; expected a table [lifecycle], so its defaults stay.'),
        ('keys = ["a"]', 'config.toml: "keys" is ["a"]; expected a table [keys], so its defaults stay.'),
        (
            "[keys]\npin = 1",
            'config.toml: "keys.pin" is 1; expected text such as "j,down", so the action keeps its default.',
        ),
        (
            "[theme]\na = 1",
            'config.toml: "theme" is a table; expected a theme\'s name, or "" for the terminal\'s own colours, '
            'so "workbench-dark" stays.',
        ),
        (
            'model = "~no-such-user-here/m"',
            'config.toml: "model" is "~no-such-user-here/m"; expected a path, or "" for the bundled model, '
            'so "" stays.',
        ),
        (
            "[thresholds]\nduplicate = 0.5",
            'config.toml: "thresholds.review" (0.71) is above "thresholds.duplicate" (0.5); expected it below, '
            "so 0.71 and 0.88 stay.",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_used_keeps_its_default_and_is_named(
    tmp_path: Path, text: str, problem: str
) -> None:
    loaded = read(tmp_path, text)
    assert loaded.problems == (problem,)
    assert loaded.settings == Settings()
    assert loaded.given == frozenset()


@pytest.mark.parametrize(
    "key", ["lifecycle.sightings", "lifecycle.references", "claude.rounds", "reflection.hours"]
)
def test_true_is_no_number(tmp_path: Path, key: str) -> None:
    table, _, name = key.partition(".")
    loaded = read(tmp_path, f"[{table}]\n{name} = true\n")
    assert loaded.settings == Settings()
    (problem,) = loaded.problems
    assert problem.startswith(f'config.toml: "{key}" is true; expected ')


def test_one_mistake_does_not_spoil_the_rest(tmp_path: Path) -> None:
    loaded = read(
        tmp_path, 'theme = "light"\nprofil = "x"\n[thresholds]\norder = -1\nreview = 0.6\n'
    )
    assert loaded.settings == Settings(theme="light", thresholds=DedupThresholds(review=0.6))
    assert len(loaded.problems) == 2


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('theme = "a"\nprofile = \n', "line 2 "),
        ('theme = "a"\r\n\r\n[keys\r\n', "line 3 "),
        ('theme = "a"\n\neditor = """x\ny', "line 4 "),
        (b'theme = "a"\n# \xff\n', "line 2 is not UTF-8"),
        ("x = " + "[" * 20_000, "not TOML"),
        ("x = " + "1" * 10_000, "not TOML"),
    ],
)
def test_broken_toml_means_the_defaults_and_one_problem(
    tmp_path: Path, text: str | bytes, where: str
) -> None:
    loaded = read(tmp_path, text)
    assert loaded.settings == Settings()
    assert len(loaded.problems) == 1
    assert loaded.problems[0].startswith("config.toml: ")
    assert where in loaded.problems[0]
    assert loaded.problems[0].endswith("the defaults are used.")


def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()
    loaded = load(tmp_path / "config.toml")
    assert loaded.settings == Settings()
    assert loaded.problems[0].startswith("config.toml cannot be read (")


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    assert read(tmp_path, b'\xef\xbb\xbftheme = "x"\r\n').settings.theme == "x"


def test_control_bytes_do_not_reach_a_problem(tmp_path: Path) -> None:
    (problem,) = read(tmp_path, '"the\\u001bme" = 1').problems
    assert problem.isprintable()


def test_the_shown_settings_explain_each_key() -> None:
    lines = show(Settings()).splitlines()
    keys = [n for n, line in enumerate(lines) if " = " in line and not line.startswith("#")]
    assert len(keys) == 42
    assert all(lines[n - 1].startswith("# ") for n in keys)


_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12).map(str.strip)
_SETTINGS = st.builds(
    Settings,
    theme=_TEXT,
    profile=_TEXT.filter(bool),
    model=st.none() | st.sampled_from([Path("/m"), Path('/a "b" ü\\c')]),
    editor=_TEXT,
    index_file=_TEXT,
    capture=st.sampled_from(("lessons", "liberal")),
    importance=st.sampled_from(["general", "code"]),
    floor=st.booleans(),
    keys=st.dictionaries(_TEXT, _TEXT, max_size=3),
    thresholds=st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 100)).map(
        lambda t: DedupThresholds(flag=max(t[:2]), review=min(t[:2]), order=t[2])
    ),
    reflection=st.builds(
        TriggerLimits, st.floats(1, 1e6), st.integers(1, 10**6), st.floats(0.1, 87_600)
    ),
    lifecycle=st.tuples(*[st.floats(1, 36_500)] * 3).map(lambda days: LifecycleLimits(*days)),
    claude=st.just(LlmSettings()),
    agents=st.just(AgentSettings()),
    memory=st.builds(MemorySettings, st.booleans(), st.integers(1, 50)),
)


@pytest.mark.slow
@hypothesis_settings(max_examples=60, deadline=None)
@given(_SETTINGS)
def test_the_shown_settings_read_back(
    tmp_path_factory: pytest.TempPathFactory, settings: Settings
) -> None:
    loaded = read(tmp_path_factory.mktemp("c"), show(settings))
    assert loaded.problems == ()
    assert loaded.settings == settings
    assert math.isfinite(loaded.settings.thresholds.order)
