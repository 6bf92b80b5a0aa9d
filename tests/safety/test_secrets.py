"""Secrets by value: what is found and masked, and what looks alike and is none."""

import pytest

from tests.safety.samples import ALNUM, HEX, drawn, keys, private_key
from workbench.config.paths import shipped
from workbench.safety.scanning import mask, scan
from workbench.safety.secrets import looks_random, masked_rules

KEYS = keys()


@pytest.mark.parametrize("name", KEYS)
def test_a_key_is_found_by_its_form_and_masked_to_its_last_character(name: str) -> None:
    rule, key = KEYS[name]
    text = f"Deployed with {key} on staging."
    found = scan(text)
    assert [(f.kind, f.rule, text[f.start : f.end]) for f in found] == [("secret", rule, key)]
    assert mask(text) == f"Deployed with [secret: {rule}] on staging."


@pytest.mark.parametrize("name", KEYS)
def test_no_reason_holds_a_part_of_the_secret(name: str) -> None:
    _, key = KEYS[name]
    for finding in scan(f"TOKEN={key}"):
        assert not any(key[i : i + 5] in finding.reason + finding.rule for i in range(len(key) - 5))


P, T = "pass" + "word", "to" + "ken"
ASSIGNED = [
    (f"{P}=hunter2x", f"{P}=[secret: password]"),
    (f'login(user="ada", {P}="Secret!Enough9")', f'login(user="ada", {P}="[secret: password]")'),
    ("DB_PASS" + "WORD=s3cr;t&,x rest", "DB_PASS" + "WORD=[secret: password] rest"),
    ('{"api_' + 'key": "abcd1234efgh"}', '{"api_' + 'key": "[secret: API key]"}'),
    (
        '{"q": "a {\\"api_' + 'key\\": \\"abcd1234efgh\\"}"}',
        '{"q": "a {\\"api_' + 'key\\": \\"[secret: API key]\\"}"}',
    ),
    (
        f'"{{\\\\\\"{P}\\\\\\": \\\\\\"Ab1!xyz9\\\\\\"}}"',
        f'"{{\\\\\\"{P}\\\\\\": \\\\\\"[secret: password]\\\\\\"}}"',
    ),
    ("passwd" + ": 123456", "passwd" + ": [secret: password]"),
    (f"the {P} is Tr0ub4dor&3.", f"the {P} is [secret: password]."),
    (
        "Server=x;Pass" + "word=Ab1!xyz;Timeout=3",
        "Server=x;Pass" + "word=[secret: password];Timeout=3",
    ),
    ("client_" + "secret: ced75882283e4eb79182", "client_" + "secret: [secret: secret]"),
    (
        f"https://x.org/a?access_{T}=a4d9e22d7c5b98035f&b=1",
        f"https://x.org/a?access_{T}=[secret: access token]&b=1",
    ),
    ("postgres://app:p@ss!w0rd@db:5432/x", "postgres://app:[secret: password]@db:5432/x"),
    ("redis://:abc12345@cache", "redis://:[secret: password]@cache"),
    (f"connect({P} = hunter2x, port=5)", f"connect({P} = [secret: password], port=5)"),
    ("{" + P + " = hunter2x;user=ada}", "{" + P + " = [secret: password];user=ada}"),
    ("run(PASS" + "WORD=hunter2x)", "run(PASS" + "WORD=[secret: password])"),
    (
        "this is how: send the password to ada1@shop.io",
        "this is how: send the password to ada1@shop.io",
    ),
    ("export PASS" + "WORD=hunter2x; run", "export PASS" + "WORD=[secret: password]; run"),
    ("<b>PASS" + "WORD=hunter2x</b>", "<b>PASS" + "WORD=[secret: password]</b>"),
    ('"PASS' + 'WORD=hunter2x\\nUSER=ada"', '"PASS' + 'WORD=[secret: password]\\nUSER=ada"'),
    (
        "docker run -e PASS" + "WORD=a2x9(b;c9,USER=x",
        "docker run -e PASS" + "WORD=[secret: password],USER=x",
    ),
    (
        "Authorization: Bear" + "er abcdef123456ghijk",
        "Authorization: Bear" + "er [secret: access token]",
    ),
]


@pytest.mark.parametrize(("text", "masked"), ASSIGNED)
def test_a_value_is_masked_where_its_name_or_place_tells(text: str, masked: str) -> None:
    assert mask(text) == masked
    assert mask(masked) == masked


PLACED = (
    "db.internal:5432:shop:ada:{}",
    "redis-cli -h cache -a {} ping",
    "machine api.example.org login ada pass" + "word {}",
    "https://app:{}@shop.example/x",
    "deploy --pass" + "word {} --now",
)


@pytest.mark.parametrize("line", PLACED)
def test_a_password_is_told_by_its_place_alone(line: str) -> None:
    assert mask(line.format("Ab1!xyz9")) == line.format("[secret: password]")
    assert mask(line.format("$DB_PASS")) == line.format("$DB_PASS")


def test_an_aws_secret_is_known_by_its_name() -> None:
    secret = drawn(40, ALNUM + "/+")
    assert secret not in mask(f"aws_secret_access_key = {secret}")
    assert secret not in mask(f"AWS_SECRET_ACCESS_KEY='{secret}'")


def test_a_private_key_is_masked_as_a_whole_and_line_numbers_stay() -> None:
    block = private_key()
    text = f"before\n{block}\nafter"
    masked = mask(text)
    assert masked == "before\n[secret: private key]" + "\n" * 5 + "after"
    assert [f.rule for f in scan(text)] == ["private key"]
    cut = block.rpartition("\n")[0]
    assert mask(f"{cut} and so on") == "[secret: private key]" + "\n" * 3 + " and so on"
    assert "[secret: private key]" in mask('{"k": "' + block.replace("\n", "\\n") + '"}')
    head, tail = block.split("\n")[0], block.split("\n")[-1]
    assert scan(f"The file begins with {head} and ends with {tail}") == ()


def test_overlapping_findings_become_one() -> None:
    _, key = KEYS["github"]
    text = "TO" + f"KEN={key}"
    assert [(f.rule, f.end - f.start) for f in scan(text)] == [("GitHub token", len(key))]
    assert mask(text) == "TO" + "KEN=[secret: GitHub token]"


def test_the_markers_say_what_was_masked() -> None:
    text = f"{KEYS['github'][1]} {KEYS['aws'][1]} {KEYS['github'][1]}"
    assert masked_rules(mask(text)) == ("GitHub token", "AWS key")


CLEAN = [
    "commit 3f2504e04f8911d39a0c0305e82c3301a1b2c3d4 fixes it",
    "run 550e8400-e29b-41d4-a716-446655440000 and mem-20261121-0000001",
    "/usr/local/lib/python3.11/site-packages/server/plugins/base2_controller.py",
    "see tests/unit/TestAuth2Login/testHelper3.py::TestClass4",
    "https://docs.example.org/document/d/" + drawn(44) + "/edit",
    "data:image/png;base64," + drawn(80, ALNUM + "+/"),
    "![logo](iVBORw0KGgoAAAANSUhEUg2aB.png)",
    "sha512-" + drawn(86, ALNUM + "+/") + "== and sha256:" + drawn(64, HEX),
    "#ff00aa, #a1b2c3d4 and rgb(1,2,3)",
    "toolu_" + drawn(24),
    "password reset: users must confirm by email",
    "AUTH_SECRET missing in CI",
    'apis.spotify.login(username=email, password=passwords["spotify"])',
    "password=spotify_password and access_token=login_result2",
    'access_token=login_result["access_token"], token = response.json()["token"]',
    "def f(password: str = None, token: Optional[str] = None)",
    "postgres://user:password@localhost/db and postgres://${DB_USER}:${DB_PASS}@host",
    "https://registry.npmjs.org:443/@scope/package and git@github.com:foo/bar.git",
    "the token count is 4096 and max_tokens=2000",
    "secret: the team plans a party. The secret is to practice.",
    "api_key=$OPENAI_API_KEY, password=os.environ['DB_PASSWORD'], API_TOKEN=<your-token-1234>",
    "password: 8 characters minimum, token: v1.2.3-beta",
    "getUserByIdAndReturnTheirFullName2WithOptions3",
    "Meta-Llama-3.1-70B-Instruct-AWQ-INT4-v2B",
    "Use bearer authentication; the Authorization: Bearer header must be set",
    "docker run -e PASSWORD=$(cat /run/secrets/db) app",
    "docker run --name mongo -p 27017:27017 mongo:6",
    "docker run --name mongo -p 127.0.0.1:27017:27017/tcp mongo:6",
]


CODE = [
    "password = db.Column(db.String(80), nullable=False)",
    "password = models.CharField(max_length=128)",
    "password = fields.String(max_length=64,\n    required=True)",
    "password = hashlib.sha256(value.encode()).hexdigest()",
    "password = base64.b64decode(data)[:16]",
    "SECRET_KEY=secrets.token_hex(16)",
    "$password = md5($_POST['pw1']);",
    "std::string password = obj->get_password(1);",
    "String password = args[2];",
    "password = &buf[4];",
    "PASSWORD=sys.argv[1]",
    "const password = user?.password1 ?? generate(12);",
    "token: auth?.token2,",
    "token: session::token2,",
    "token: Uint8Array,",
    "api_key: Base64UrlString = Field()",
    "UPDATE users SET password = SHA2(CONCAT(salt, raw), 256) WHERE id = 1;",
    "SELECT id FROM users WHERE password = :password2",
    "password = utf8_value",
    "if (user.password == inputPass2) {",
    '"/login?password="+pass1+"&user="+user1',
    "'token='.$token1.'&x'",
    "Your password is #{user.pass1}",
]


@pytest.mark.parametrize("text", CODE)
def test_what_code_assigns_without_quotes_is_no_secret(text: str) -> None:
    assert mask(text) == text


@pytest.mark.parametrize("text", CLEAN)
def test_what_only_looks_alike_is_left_alone(text: str) -> None:
    assert scan(text) == ()
    assert mask(text) == text


@pytest.mark.slow
def test_the_demo_holds_nothing_that_is_flagged() -> None:
    for path in sorted(path for path in shipped("fixtures/demo").rglob("*") if path.is_file()):
        for line in path.read_text("utf-8").splitlines():
            assert scan(line) == (), line


@pytest.mark.parametrize("length", [64, 70, 76])
def test_a_line_of_a_key_that_begins_with_a_slash_is_no_path(length: int) -> None:
    line = "/" + drawn(length - 1, ALNUM + "+/", seed=5)
    assert mask(f"cannot read {line} there") == "cannot read [secret: high-entropy string] there"
    assert mask(f"/usr/share{line}") == f"/usr/share{line}"


def test_random_words_are_told_from_names() -> None:
    found = sum(looks_random(drawn(32, seed=seed)) for seed in range(400))
    assert found >= 360
    assert not looks_random("ConnectionPoolManagerForPostgres15AndRedis7Clusters")
