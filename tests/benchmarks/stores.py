"""Large stores to measure on, and processes beside them that touch nothing of this machine."""

import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from workbench.config import paths
from workbench.core.stream.memory import MEMORY_TYPES, OBSERVATION_TYPES, Memory, Source
from workbench.store.library import Library

ROOT = Path(__file__).parents[2]
START = datetime(2025, 11, 1, 8, tzinfo=UTC)
CHUNK = 5_000
TRUST = """
import sys
from pathlib import Path
from workbench.config import paths
from workbench.store.library import Library
library = Library(Path(sys.argv[1]), heads=paths.heads_dir())
if not library.standing.trusted:
    library.journal.trust()
    library.save_checkpoint()
"""
"""Makes a store that was built here one that this machine knows, with a checkpoint."""


def build(folder: Path, size: int, heads: Path | None = None) -> list[str]:
    """Fill a store with `size` memories and return questions about them, of five to ten words."""
    random = Random(size)
    sentences = demo_sentences()
    library = Library(folder, heads=heads)
    for first in range(0, size, CHUNK):
        last = min(size, first + CHUNK)
        with library.transaction("import:bench", "import", group="bench", more=last < size) as tx:
            for number in range(first, last):
                tx.put(memory(number, sentences, random))
    library.close()
    return [" ".join(random.choice(sentences).split()[: random.randint(5, 10)]) for _ in range(40)]


def memory(number: int, sentences: list[str], random: Random) -> Memory:
    """Make a memory as hooks and people write them: one to three sentences, and what they are
    about.
    """
    at = START + timedelta(seconds=97 * number)
    said = " ".join(random.sample(sentences, random.randint(1, 3)))
    return Memory(
        id=f"mem-{at:%Y%m%d}-{number + 1:07d}",
        content=f"{said} (#{number}, src/{random.choice(('api', 'web', 'worker'))}/part_{random.randrange(2_000)}.py)",
        created_at=at,
        last_accessed_at=at + timedelta(seconds=random.randrange(10**6)),
        summary=said[:60] if random.random() < 0.5 else "",
        session_id=f"session-{number // 40}",
        memory_type=random.choice(MEMORY_TYPES),
        observation_type=random.choice(OBSERVATION_TYPES),
        category=random.choice(("ci", "deploy", "database", "style")),
        tags=tuple(random.sample(("api", "web", "cache", "tests", "release"), 2)),
        importance_score=random.randrange(21) / 2,
        helpful_created=1,
        status=random.choice(("signal", "signal", "confirmed", "promoted")),
        source=Source("PostToolUse", random.randrange(60)),
    )


def demo_sentences() -> list[str]:
    """Return the sentences of the demo's memories."""
    lines = (paths.shipped("fixtures/demo") / "memories.jsonl").read_text().splitlines()
    texts = [str(json.loads(line)["context"]) for line in lines]
    return [part for text in texts for part in re.split(r"(?<=[.;:])\s+", text) if len(part) > 20]


def own(store: Path) -> dict[str, str]:
    """Make a store that of somebody who has used it, trusted and indexed, and return the
    surroundings for commands.
    """
    homes = {
        f"XDG_{kind}_HOME": str(store.parent / kind.lower())
        for kind in ("CONFIG", "DATA", "STATE", "CACHE")
    }
    # A person's processes find what they import compiled already.
    ours = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    surroundings = {**ours, **homes}
    for args in (
        ["-c", TRUST, str(store)],
        ["-m", "workbench", "--store", str(store), "list", "-n", "1"],
    ):
        subprocess.run(
            [sys.executable, *args], check=True, cwd=ROOT, capture_output=True,
            env={**surroundings, "WORKBENCH_TRUST": str(store)},
        )  # fmt: skip
    return surroundings
