"""Typing over a masked document: the secrets stay where they were, byte for byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.record import WorkbenchError
from workbench.services.agents.documents.documents import put_back

MARK = "[secret: token]"
TEXT = "# Keys\r\nkey = ghp_abc\nother\tline\r\n"
SHOWN = TEXT.replace("ghp_abc", MARK)


def test_a_text_without_secrets_is_what_was_typed() -> None:
    assert put_back("a\r\nb", "a\r\nb", "c") == "c"


@pytest.mark.parametrize(
    ("typed", "after"),
    [
        (SHOWN, TEXT),
        (SHOWN.replace("other", "another"), TEXT.replace("other", "another")),
        (f"new\n{SHOWN}", f"new\n{TEXT}"),
        (f"# Keys\r\nother\tline\r\nkey = {MARK}\n", "# Keys\r\nother\tline\r\nkey = ghp_abc\n"),
        ("# Keys\r\n", "# Keys\r\n"),
    ],
)
def test_lines_that_stay_or_move_keep_their_secret(typed: str, after: str) -> None:
    assert put_back(TEXT, SHOWN, typed) == after


@pytest.mark.parametrize("line", [f"key = {MARK} # mine", MARK, f"{MARK}{MARK}"])
def test_a_line_with_a_secret_cannot_be_changed(line: str) -> None:
    with pytest.raises(WorkbenchError, match="a masked secret"):
        put_back(TEXT, SHOWN, SHOWN.replace(f"key = {MARK}", line))


def test_a_secret_over_several_lines_is_left_to_another_editor() -> None:
    with pytest.raises(WorkbenchError, match="spans several lines"):
        put_back("a\nBEGIN\nEND\n", f"a\n{MARK}\n", f"b\n{MARK}\n")


LINES = st.lists(
    st.sampled_from(["a", "b\r", "", "k = one", "k = two", "\ufeff", "x\x0cy"]), max_size=12
)


@pytest.mark.slow
@given(LINES, LINES)
def test_what_is_typed_is_what_comes_out_with_its_secrets(
    before: list[str], after: list[str]
) -> None:
    def mask(lines: list[str]) -> str:
        return "\n".join(
            line.replace("one", f"{MARK[:-1]} 1]").replace("two", f"{MARK[:-1]} 2]")
            for line in lines
        )

    kept = [line for line in after if "k =" not in line or line in before]
    assert put_back("\n".join(before), mask(before), mask(kept)) == "\n".join(kept)
