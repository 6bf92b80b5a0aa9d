"""Run one benchmark and print its figures as one JSON object: `python -m tests.benchmarks NAME
[--small]`.
"""

import argparse
import importlib
import json
import sys
from pathlib import Path

NAMES = tuple(
    sorted(
        path.stem
        for path in Path(__file__).parent.glob("[!_]*.py")
        if "\ndef run(" in path.read_text("utf-8")
    )
)
"""The modules here that can be run; the others are what they share."""


def main(arguments: list[str]) -> None:
    """Run the benchmark that is named; each is a module here with `run(small) -> dict`."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("name", choices=NAMES)
    parser.add_argument(
        "--small",
        action="store_true",
        help="a tenth of a second instead of minutes, to see that it runs",
    )
    parser.add_argument(
        "folder",
        nargs="?",
        type=Path,
        help="files: real files to try; floor, english: judged collections",
    )
    parser.add_argument(
        "--texts", nargs="+", metavar="TEXT", help="keys: the hostile texts to try after prose"
    )
    parser.add_argument(
        "--against", metavar="COMMIT", help="promises: a commit to compare with, in turns"
    )
    chosen = parser.parse_intermixed_args(arguments)
    module = importlib.import_module(f"tests.benchmarks.{chosen.name}")
    if chosen.folder is not None and chosen.name not in ("files", "floor", "english"):
        parser.error("a folder goes with files, floor and english")
    if chosen.texts is not None and chosen.name != "keys":
        parser.error("texts go with keys")
    if chosen.against is not None and chosen.name != "promises":
        parser.error("a commit goes with promises")
    more = {"folder": chosen.folder} if chosen.folder is not None else {}
    more |= {"names": tuple(chosen.texts)} if chosen.texts is not None else {}
    more |= {"against": chosen.against} if chosen.against is not None else {}
    figures = module.run(small=chosen.small, **more)
    print(json.dumps(figures, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main(sys.argv[1:])
