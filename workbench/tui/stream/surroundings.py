"""What is shown around a memory wherever one is shown in full."""

from workbench.core.stream.feedback import effective_importance
from workbench.core.stream.memory import Memory
from workbench.core.tuning.profile import WORKBENCH
from workbench.services.open import Workbench
from workbench.tui.safety.flag_view import Flags
from workbench.tui.stream.memory_view import Surroundings


def surroundings(bench: Workbench, memory: Memory, flags: Flags, width: int) -> Surroundings:
    """Return what the detail of a memory shows besides itself, in so many columns."""
    stream, now = bench.stream, bench.context.now()
    # What else speaks of it is looked up once the store was read, and this is shown anew then.
    is_read = bench.library.is_read
    return Surroundings(
        now=now,
        width=width,
        effective=effective_importance(memory, now, WORKBENCH.feedback, WORKBENCH.feedback_half_life),
        half_life=None if memory.pinned else WORKBENCH.half_lives.of(memory.memory_type),
        live_vote=stream.live_vote(memory.id),
        cited=stream.cited(memory),
        cited_by=stream.cited_by(memory.id) if is_read else (),
        timeline=stream.timeline(memory.id, 3) if is_read else (memory,),
        flags=flags,
        masked=bench.safety.masked,
    )
