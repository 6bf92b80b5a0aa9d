"""Generated decoders make the records that the constructor makes."""

from dataclasses import dataclass, field

import pytest

from workbench.core.record import compiled


@dataclass(frozen=True, slots=True)
class Small:
    """A record with every kind of field."""

    id: str
    count: int = 3
    note: str | None = None
    words: tuple[str, ...] = ()
    extra: dict[str, int] = field(default_factory=dict)


DECODERS = {"id": str, "count": int, "note": str, "words": tuple, "extra": dict}
PLAIN = {"id": str, "count": int, "note": str}


def test_a_record_is_made_with_defaults_and_decoded_values() -> None:
    make = compiled(Small, DECODERS, PLAIN)
    assert make is not None
    made = make({"id": "a", "words": ["x"], "count": "4"}.get)
    assert made == Small("a", 4, words=("x",))
    assert type(made) is Small
    assert hash(made.id) == hash("a")
    assert make({"id": "b"}.get).extra is not make({"id": "b"}.get).extra
    with pytest.raises(AttributeError):
        made.count = 5  # type: ignore[misc]


def test_a_missing_field_is_named() -> None:
    make = compiled(Small, DECODERS, PLAIN)
    assert make is not None
    with pytest.raises(ValueError, match="“id” is missing"):
        make({"id": None}.get)


def test_a_class_that_needs_its_constructor_is_left_to_it() -> None:
    @dataclass(frozen=True)
    class Loose:
        id: str

    @dataclass(frozen=True, slots=True)
    class Checked:
        id: str

        def __post_init__(self) -> None:
            """Have something to do."""

    assert compiled(Loose, {"id": str}, {"id": str}) is None
    assert compiled(Checked, {"id": str}, {"id": str}) is None
