"""The one question about a store that came from elsewhere: what came, who wrote it, what is flagged."""

import asyncio
import time

from textual.content import Content

from workbench.core.errors import WorkbenchError
from workbench.services.safety.trust import Arrived
from workbench.tui.app.host import Host
from workbench.tui.widgets.confirm import Confirm
from workbench.tui.widgets.content import MUTED, body
from workbench.tui.widgets.figures import amount, number

ACTORS = 6
FLAGGED = 8


async def ask(app: Host) -> None:
    """Ask whether what came is taken over, and do it after a yes; without one nothing can be changed."""
    try:
        app.bench.trust.require_own()
        arrived = await asyncio.to_thread(app.bench.trust.arrived)
        asked = Confirm(
            "Trust this store? It came from elsewhere.", clock=time.monotonic, detail=_told(arrived),
            yes="trust it", no="only read it",
        )  # fmt: skip
        if await app.push_screen_wait(asked):
            await asyncio.to_thread(app.bench.trust.accept, arrived)
            app.say("Trusted from now on.")
        else:
            app.say("You can read everything; nothing is served, promoted or changed. It waits in Review.", "warning")
    except WorkbenchError as error:
        app.say(str(error), "error")


def _told(arrived: Arrived) -> Content:
    """Return what came, in lines; the names of actors are stored text."""
    changes = amount(arrived.changes, "change is", "changes are")
    lines = [body(f"{changes} not known on this machine, written by:")]
    actors = sorted(arrived.actors.items(), key=lambda one: -one[1])
    lines += [body(f"  {actor or '(nobody named)'}: {number(count)}") for actor, count in actors[:ACTORS]]
    if len(actors) > ACTORS:
        lines.append(Content.styled(f"  and {len(actors) - ACTORS} more", MUTED))
    memories = amount(arrived.memories, "memory", "memories")
    bullets = amount(arrived.bullets, "bullet")
    held = f"In it: {memories} and {bullets}"
    lines.append(body(f"{held}; {number(len(arrived.flagged))} flagged."))
    lines += [body(f"  {held.line}", "$text-warning") for held in arrived.flagged[:FLAGGED]]
    lines.append(Content.styled("Until you trust it, nothing of it is served to agents, promoted or changed.", MUTED))
    return Content("\n").join(lines)
