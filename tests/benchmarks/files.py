"""What exporting loses of real files: each is imported, edited once by somebody, and exported over."""

import random
import shutil
import tempfile
from collections import Counter
from pathlib import Path

from tests.services.file_rounds import EDITS, kind_of, play
from workbench.config.paths import shipped
from workbench.core.files.formats import detect
from workbench.core.record import UnreadableFile
from workbench.formats import opening

LARGEST = 400_000
"""Bytes of a file that is tried: of a longer one, as many whole lines as fit."""

FIRST = 20261121


def run(small: bool, folder: Path | None = None) -> dict[str, object]:
    """Play rounds over every file below `folder` (the demo's own without one) that is read and
    written.

    `lines_lost` and `values_lost` count what went although no edit was about it; `losses` names the
    first ones. Every edit is made `rounds` times a file, at places that a fixed seed chooses.
    """
    chance, rounds = random.Random(FIRST), 1 if small else 4
    outcomes: Counter[str] = Counter()
    losses: list[str] = []
    lines = values = 0
    skipped: list[str] = []
    every = list(files(folder or shipped("fixtures/demo"), skipped))
    for path, text in every:
        for edit in EDITS:
            for _ in range(rounds):
                place = Path(tempfile.mkdtemp(prefix="bench-files-"))
                try:
                    done = play(place, path.name, text, edit, chance)
                finally:
                    shutil.rmtree(place)
                outcomes[done.outcome] += 1
                lines, values = lines + len(done.lines), values + len(done.values)
                losses += [
                    f"{path.name}, {edit}: {lost[:80]}" for lost in (*done.lines, *done.values)
                ]
    return {
        "files": len(every), "edits": outcomes.total(), **outcomes, "lines_lost": lines, "values_lost": values,
        "losses": losses[:20], "not_written": skipped,
    }  # fmt: skip


def files(folder: Path, skipped: list[str]) -> list[tuple[Path, bytes]]:
    """Return the files of known formats that can be written, and note the others."""
    found = []
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        try:
            formats = detect(path, opening.read_text(path))
        except UnreadableFile:
            formats = ()
        if not formats or kind_of(formats[0].format, path) is None:
            skipped.append(f"{path.name}: {formats[0].format if formats else 'of no known format'}")
            continue
        data = path.read_bytes()
        if len(data) > LARGEST and path.suffix == ".jsonl":
            data = data[: data.rindex(b"\n", 0, LARGEST) + 1]
        found.append((path, data))
    return found
