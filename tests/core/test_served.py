"""What an agent may see."""

import pytest

from tests.core.samples import NOW, days, memory
from workbench.core.stream.memory import Status, hidden_because, is_served


@pytest.mark.parametrize("status", ["signal", "confirmed", "promoted"])
@pytest.mark.parametrize("synthetic", [True, False])
def test_served(status: Status, synthetic: bool) -> None:
    """Reflections included."""
    one = memory(status=status, is_synthetic=synthetic)
    assert is_served(one, NOW)
    assert hidden_because(one, NOW) is None


def test_hidden_with_a_reason() -> None:
    """Candidates, the archive, and what lies in the future."""
    assert hidden_because(memory(status="candidate"), NOW) == "waits for review"
    rejected = memory(status="archived", archived_reason="rejected")
    assert hidden_because(rejected, NOW) == "archived (rejected)"
    assert hidden_because(memory(status="archived"), NOW) == "archived (no reason given)"
    future = memory(created_at=NOW + days(1))
    assert hidden_because(future, NOW) == "created after this moment"
    assert not any(is_served(m, NOW) for m in (memory(status="candidate"), rejected, future))
