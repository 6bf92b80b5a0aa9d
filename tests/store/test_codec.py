import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.record import InvalidRecord
from workbench.store.journal.codec import (
    BadLine,
    dumps,
    hash_of,
    loads,
    loads_foreign,
    read_line,
    same,
    seal,
    unseal,
)

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@pytest.mark.slow
@given(st.dictionaries(st.text(), json_values, min_size=1))
def test_what_is_sealed_is_read_back(value: dict[str, object]) -> None:
    value["rev"] = 1
    line = seal(value)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert same(unseal(line[:-1]), value)
    assert hash_of(line[:-1]).encode() in line


@given(st.integers(0, 10_000), st.integers(0, 7))
def test_one_flipped_bit_is_noticed(place: int, bit: int) -> None:
    line = bytearray(seal({"rev": 1, "label": "a label", "n": 12})[:-1])
    line[place % len(line)] ^= 1 << bit
    with pytest.raises(BadLine):
        unseal(bytes(line))


def test_a_line_says_which_machine_wrote_it_and_whether_it_knew_those_before() -> None:
    one, other = b"1" * 32, b"2" * 32
    whole, alone = (seal({"rev": 1}, "0" * 64, one, what)[:-1] for what in ("all", "one"))
    assert [read_line(line)[1].covers(one) for line in (whole, alone)] == ["all", "one"]
    assert [read_line(line)[1].covers(other) for line in (whole, alone)] == ["", ""]
    assert read_line(whole)[1].covers(b"") == ""
    assert read_line(seal({"rev": 1}, "0" * 64)[:-1])[1].covers(one) == ""
    by = read_line(whole)[1].by.encode()
    line = seal({"rev": 2}, "0" * 64, other)[:-1]
    forged = line.replace(read_line(line)[1].by.encode(), by)
    with pytest.raises(BadLine):
        read_line(forged)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"", "no checksum"),
        (b'{"rev":1}', "no checksum"),
        (b'{"rev":1,"hash":"%s"}' % (b"0" * 64), "does not match"),
    ],
)
def test_a_bad_line_says_why(line: bytes, reason: str) -> None:
    with pytest.raises(BadLine, match=reason):
        unseal(line)


@pytest.mark.parametrize(
    ("body", "reason"), [(b'{"a":nonsense', "not JSON"), (b'["a"', "not JSON")]
)
def test_a_hash_over_nonsense_is_not_enough(body: bytes, reason: str) -> None:
    with pytest.raises(BadLine, match=reason):
        unseal(seal(body + b"}")[:-1])


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("\ud800", "half a character"),
        (2**64, "64 bits"),
        (-(2**63) - 1, "64 bits"),
        (float("nan"), "not finite"),
        ([{"x": float("-inf")}], "not finite"),
    ],
)
def test_what_could_not_be_read_back_is_refused(value: object, reason: str) -> None:
    with pytest.raises(InvalidRecord, match=reason):
        seal({"v": value})


def test_very_deep_nesting_is_refused() -> None:
    value: list[object] = []
    for _ in range(2000):
        value = [value]
    with pytest.raises(InvalidRecord, match="deeply"):
        dumps(value)


def test_types_json_does_not_know_stay_a_type_error() -> None:
    with pytest.raises(TypeError):
        dumps({"a": object()})


def test_whole_numbers_of_other_programs_keep_their_digits() -> None:
    assert loads_foreign(b"123456789012345678901234567890") == 123456789012345678901234567890
    with pytest.raises(ValueError, match="unexpected end"):
        loads(b"{")


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (1, 1, True), (1, 1.0, False), (1, True, False), ("a", "a", True), ((1, 2), [1, 2], True),
        ([1], [True], False), ({"a": [1]}, {"a": [1]}, True), ({"a": 1}, {"a": 1.0}, False), (None, 0, False),
    ],
)  # fmt: skip
def test_same_means_the_same_json(one: object, other: object, equal: bool) -> None:
    assert same(one, other) is equal
