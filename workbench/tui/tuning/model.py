"""Using another embedding model from the next start on: its vectors are made behind the screen."""

import asyncio
from pathlib import Path

from textual.worker import get_current_worker

from workbench.config.writing import set_values
from workbench.core.record import WorkStopped
from workbench.services.tuning.evaluation import model_at, try_model
from workbench.tui.app.host import Host
from workbench.tui.widgets.texts.prompt import Prompt

TITLE = "Folder of a model2vec embedding model; leave it empty for the bundled one"


async def use_model(app: Host, config: Path) -> None:
    """Ask for a folder and write it into the settings; say what that will change in the judged queries."""
    present = app.bench.context.settings.model
    chosen = await app.push_screen_wait(Prompt(TITLE, str(present or ""), placeholder="~/models/multilingual"))
    if chosen is None:
        return
    folder = Path(chosen).expanduser().absolute() if chosen else None
    with app.reporting():
        await asyncio.to_thread(model_at, folder)
        set_values(config, {"model": str(folder or "")})
        name = str(folder or "the bundled one")
        if folder == present:
            app.say(f"The embedding model is {name}.")
            return
        app.say(f"From the next start on the embedding model is {name}. Vectors are being made.")
        await _try(app, folder)


async def _try(app: Host, folder: Path | None) -> None:
    worker, tuning = get_current_worker(), app.bench.tuning
    try:
        change = await asyncio.to_thread(
            lambda: try_model(
                app.bench.context, app.bench.retriever, tuning.profiles, tuning.default(), folder,
                cancelled=lambda: worker.is_cancelled,
            )
        )  # fmt: skip
    except WorkStopped:
        return
    if change is None:
        app.say("The vectors are made. No judged query tells which model ranks better here.")
        return
    before, now = (result.mean["ndcg@10"] for result in (change.before, change.now))
    app.say(f"The vectors are made. The judged queries: nDCG@10 {before:.3f} → {now:.3f}; {change.verdict.sentence}.")
