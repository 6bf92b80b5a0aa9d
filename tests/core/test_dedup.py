"""What repeats what: nothing that means something else is ever absorbed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.core.duplicates.dedup import (
    Conflict,
    conflicts,
    contained_in_recent,
    content_words,
    identifiers,
    judge_pair,
    negations,
    numbers,
    opposites,
    same_words,
    symbols,
    word_conflicts,
)
from workbench.core.review.contradiction import contradictions


@pytest.mark.parametrize(
    ("content", "entry"),
    [
        ("Command failed: npm test", "Command failed: npm test"),
        ("command  FAILED:\nnpm test", "Command failed: npm test (exit 1)"),
        ("npm test", "Never mind. Run npm test"),
        ("npm test", "do not skip npm test; npm test"),
    ],
)
def test_contained(content: str, entry: str) -> None:
    """White space and case do not matter, nor what another clause negates."""
    assert contained_in_recent(content, ["other", entry])


@pytest.mark.parametrize(
    ("content", "entry"),
    [
        ("error 1", "error 12"), ("port", "support"), ("use npm", "do not use npm"), ("use npm", "don't ever use npm"),
        ("npm test (exit 1)", "npm test"), ("", "anything"), (" \n", "anything"), ("auth", "auth_secret"),
    ],
)  # fmt: skip
def test_not_contained(content: str, entry: str) -> None:
    """Parts of words, negated text, more than the entry says, and nothing at all."""
    assert not contained_in_recent(content, [entry])


def test_only_the_last_ten_count() -> None:
    """The newest is last."""
    older = ["the same", *(f"entry {i}" for i in range(10))]
    assert not contained_in_recent("the same", older)
    assert contained_in_recent("the same", older[:10])
    assert not contained_in_recent("the same", [])


ABSORBED = [
    ("Use pnpm in this project.", "use pnpm  in this project"),
    ("NEVER commit secrets", "Never commit secrets!"),
    ("Don't use npm", "Do not use npm"),
    ("The tests pass", "tests passed"),
    ("Retry 3 times", "Retry the call".replace("the call", "3 times")),
    ("Set `AUTH_SECRET` first", "Set `AUTH_SECRET` first."),
]

DIFFERENT = [
    ("always pnpm, never npm", "always npm, never pnpm"),
    ("tests passed", "tests failed"),
    ("Prefer composition over inheritance", "Prefer inheritance over composition"),
    ("raise timeout to 30s", "raise timeout to 60s"),
    ("retry 3 times after 5 s", "retry 5 times after 3 s"),
    ("needs Python 3.1", "needs Python 3.11"),
    ("offset is 5", "offset is -5"),
    ("use npm", "do not use npm"),
    ("use npm", "never use npm"),
    ("enable the cache", "disable the cache"),
    ("allow pushes to main", "deny pushes to main"),
    ("add the header", "remove the header"),
    ("run it before deploy", "run it after deploy"),
    ("deploy was a success", "deploy was a failure"),
    ("log in first", "log out first"),
    ("the input is valid", "the input is invalid"),
    ("set AUTH_SECRET", "set AUTH_TOKEN"),
    ("call getUser", "call getUsers2"),
    ("copy src/a.py to src/b.py", "copy src/b.py to src/a.py"),
    ("edit /etc/hosts", "edit /etc/passwd"),
    ("pass --force", "pass --dry"),
    ("use `cat`", "use `tac`"),
    ("use C++ here", "use C# here"),
    ("tests ✅", "tests ❌"),
    ("check a == b", "check a != b"),
    ("keep flag set", "keep !flag set"),
    ("deploy on Friday", "deploy on Monday"),
    ("deploy on Friday", "deploy on Friday only"),
]


@pytest.mark.parametrize(("new", "old"), ABSORBED)
def test_the_same_in_other_clothes_is_absorbed(new: str, old: str) -> None:
    """Case, punctuation, fillers, endings."""
    verdict = judge_pair(new, old, 97.0)
    assert verdict.action == "absorb", verdict
    assert verdict.reasons_for
    assert not verdict.reasons_against


@pytest.mark.parametrize(("new", "old"), DIFFERENT)
def test_what_differs_in_meaning_is_never_absorbed(new: str, old: str) -> None:
    """Even at a cosine of 1.00 and a perfect edit ratio; in both directions, with a reason."""
    for one, other in ((new, old), (old, new)):
        verdict = judge_pair(one, other, 100.0)
        assert verdict.action == "propose"
        assert verdict.reasons_against


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.text(max_size=40))
def test_a_text_repeats_itself(text: str) -> None:
    """Whatever it holds."""
    assert judge_pair(text, text, 100.0).action == "absorb"


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=40), st.text(max_size=40))
def test_judging_is_symmetric(new: str, old: str) -> None:
    """Which of two came first does not decide."""
    assert judge_pair(new, old, 96.0).action == judge_pair(old, new, 96.0).action


_SAID = st.lists(
    st.sampled_from(
        [
            "always",
            "never",
            "npm",
            "passed",
            "failed",
            "1.2",
            "3,000",
            "NEVER",
            "a_b",
            "`x",
            "y`",
            "!",
        ]
    ),
    max_size=6,
)


@given(_SAID, _SAID)
def test_what_lets_them_differ_is_known_before_their_letters_are_compared(
    new: list[str], old: list[str]
) -> None:
    texts = " ".join(new), " ".join(old)
    told = judge_pair(*texts, 0.0).conflicts
    assert told[: len(conflicts(*texts))] == conflicts(*texts)


def test_the_order_decides_last() -> None:
    same = "use pnpm"
    assert judge_pair(same, same, 95.0).action == "absorb"
    low = judge_pair(same, same, 94.9)
    assert (low.action, low.reasons_against) == (
        "propose",
        ("ordered text similarity 94.9 is below 95",),
    )
    assert judge_pair(same, same, 50.0, 50.0).action == "absorb"


def test_reasons_are_sentences() -> None:
    """They name what differs, at most three of a kind."""
    assert (
        judge_pair("tests passed", "tests failed", 100).reasons_against[0]
        == "one says “passed”, the other “failed”"
    )
    timeout = judge_pair("wait 30 s", "wait 60 s", 100)
    assert timeout.reasons_against == (
        "the numbers differ: 30 against 60",
        "2 words differ",
    )
    assert timeout.reasons_for == ("ordered text similarity 100.0 reaches 95",)
    fails = judge_pair("no failures seen", "no errors seen", 100)
    assert fails.reasons_against[0] == "negations differ: not “failures seen”, not “errors seen”"
    many = judge_pair("1 2 3 4 5", "text", 100)
    assert "the numbers differ: 1, 2, 3, … against none" in many.reasons_against
    swapped = judge_pair("A_X to B_X", "B_X to A_X", 100)
    assert "the order of identifiers differs" in swapped.reasons_against
    bare = judge_pair("deploy? no", "deploy?", 100)
    assert bare.reasons_against == ("negations differ: a bare “not”",)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("never use npm, always pnpm", ("use npm",)), ("don't use the npm", ("use npm",)),
        ("no errors, without failures", ("error failur", "failur")), ("notable nothing", ("",)), ("fine", ()),
        ("not never mind", ("mind", "mind")),
        ("email is NOT NULL, where NOT EXISTS", ()), ("do not null the email", ("nul email",)),
    ],
)  # fmt: skip
def test_negations(text: str, found: tuple[str, ...]) -> None:
    """The two words that are negated; “notable” negates nothing."""
    assert negations(text) == found


def test_opposites() -> None:
    """Only words of which each text has its own."""
    assert opposites("it passed", "it failed") == (("passed", "failed"),)
    assert opposites("it failed", "it passed") == (("failed", "passed"),)
    assert opposites("stable build", "unstable build") == (("stable", "unstable"),)
    assert opposites("unstable build", "stable build") == (("unstable", "stable"),)
    assert opposites("passed, then failed", "failed, then passed") == ()
    assert opposites("the end", "the mend") == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("v1.2.3 and 30s", ("1.2.3", "30")), ("-5 or −5, utf-8", ("-5", "-5", "8")),
        ("1,000 is 1000", ("1000", "1000")),
        ("95% at 12:30", ("95%", "12:30")), ("2026-11-21", ("2026", "11", "21")), ("none", ()),
    ],
)  # fmt: skip
def test_numbers(text: str, found: tuple[str, ...]) -> None:
    """Signs, versions, times, percent; a hyphen is no sign."""
    assert numbers(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Set AUTH_SECRET, then call getUser().", ("AUTH_SECRET", "getUser")),
        ("edit src/app.py or ~/.env: snake_case", ("src/app.py", "~/.env", "snake_case")),
        ("run `npm test` with --force in CI", ("npm test", "--force", "CI")),
        ("os.path.join and std::move", ("os.path.join", "std::move")),
        (r"C:\temp\x", (r"C:\temp\x",)),
        ("$HOME @scope/pkg utf8", ("$HOME", "@scope/pkg", "utf8")),
        ("Plain words. A sentence; 1.5 - x.", ()),
        ("_emphasis_ and **bold**", ()),
    ],
)
def test_identifiers(text: str, found: tuple[str, ...]) -> None:
    """Names that come from code."""
    assert identifiers(text) == found


def test_symbols_and_content_words() -> None:
    """Operators, currency and emoji; stems without fillers and negations."""
    assert symbols("a != b, `c` ✅ 5€ done!") == ("=", "✅", "€")
    assert symbols("!ready") == ("!",)
    assert content_words("The tests are not passing, we stopped denying it") == (
        "test",
        "pas",
        "stop",
        "deni",
    )


def test_a_short_text_is_found_behind_many_words_that_hold_it() -> None:
    assert contained_in_recent("at", ["cats " * 3_000 + "at last"])


SAME = [
    ("数据库迁移必须先运行再部署服务", "数据库的迁移必须先运行再部署服务"),
    ("日誌保留在伺服器上", "日誌的保留在伺服器上"),
    ("배포 전에 테스트를 실행한다", "배포 전에 테스트를 실행합니다"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_a_particle_or_an_ending_makes_no_other_text(one: str, other: str) -> None:
    assert same_words(one, other)
    assert not conflicts(one, other)
    assert not word_conflicts(one, other)


NEGATED = [
    ("部署前必须先运行数据库迁移脚本", "部署前不要运行数据库迁移脚本"),
    ("使用pnpm安装依赖", "不要使用pnpm安装依赖"),
    ("部署前執行測試", "部署前禁止執行測試"),
    ("デプロイの前に必ずテストを実行する", "デプロイの前にテストを実行しないでください"),
    ("배포 전에 반드시 테스트를 실행하세요", "배포 전에 테스트를 실행하지 마세요"),
    ("ต้องรันสคริปต์ก่อนนำขึ้นระบบจริง", "ห้ามรันสคริปต์ก่อนนำขึ้นระบบจริง"),
    ("تشغيل الاختبارات قبل كل دمج", "لا تشغيل الاختبارات قبل كل دمج"),
    ("परिनियोजन से पहले परीक्षण चलाएँ", "परिनियोजन से पहले परीक्षण मत चलाएँ"),
    ("Всегда запускай тесты перед релизом", "Никогда не запускай тесты перед релизом"),
    ("Nutze pnpm für Pakete", "Nutze niemals pnpm für Pakete"),
    ("Utilise pnpm pour les paquets", "N'utilise jamais pnpm pour les paquets"),
    ("Usa pnpm para paquetes", "Nunca usa pnpm para paquetes"),
    ("Usa pnpm per i pacchetti", "Usa mai pnpm per i pacchetti"),
    ("Use o pnpm nos pacotes", "Não use o pnpm nos pacotes"),
    ("Gebruik pnpm voor pakketten", "Gebruik nooit pnpm voor pakketten"),
    ("Kör testerna före release", "Kör inte testerna före release"),
]


@pytest.mark.parametrize(("one", "other"), NEGATED)
def test_what_one_text_negates_in_any_language_is_told(one: str, other: str) -> None:
    assert Conflict.NEGATION in conflicts(other, one)
    assert [found.other for found in contradictions(other, [("x", one)])] == ["x"]
    assert judge_pair(other, one, 99).action != "absorb"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("请在提交之前运行测试", "请在提交之后运行测试"),
        ("启用缓存可以提高速度", "禁用缓存可以提高速度"),
        ("总是在周五部署新的版本", "从不在周五部署新的版本"),
        ("キャッシュを有効にする", "キャッシュを無効にする"),
        ("배포 전에 테스트를 실행한다", "배포 후에 테스트를 실행한다"),
    ],
)
def test_opposite_words_are_known_in_scripts_without_spaces(one: str, other: str) -> None:
    assert Conflict.OPPOSITES in conflicts(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("日志文件保留7天", "日志文件保留30天"),
        ("接口等待三秒后重试", "接口等待五秒后重试"),
        ("张三负责部署生产环境", "李四负责部署生产环境"),
        ("我的猫喜欢吃鱼和虾", "我的狗喜欢吃鱼和虾"),
        ("使用pnpm安装依赖", "使用yarn安装依赖"),
        ("部署v1.2到生产环境", "部署v1.3到生产环境"),
    ],
)
def test_numbers_and_names_guard_texts_without_spaces(one: str, other: str) -> None:
    assert conflicts(one, other) or word_conflicts(one, other)


def test_text_without_spaces_is_no_name_of_code() -> None:
    assert identifiers("日志文件保留7天，使用pnpm。버전3.2를 설치") == ()
    assert identifiers("部署v1.2到api_server，设置MAX_RETRY") == ("v1.2", "api_server", "MAX_RETRY")


def test_what_is_said_in_a_recent_entry_without_spaces_is_contained() -> None:
    assert contained_in_recent("使用pnpm安装依赖", ["请记住：使用pnpm安装依赖。"])
    assert not contained_in_recent("使用pnpm安装依赖", ["请记住：不要使用pnpm安装依赖。"])
    assert not contained_in_recent("npmを使用", ["npmを使用しない。"])
