"""Run one benchmark and print its figures as one JSON object: `python -m tests.benchmarks NAME
[--small]`.
"""

import argparse
import json
from pathlib import Path

from tests.benchmarks import english, files, floor, languages, promises, team

RUNS = {
    "promises": promises,
    "english": english,
    "floor": floor,
    "languages": languages,
    "files": files,
    "team": team,
}


def main() -> None:
    """Run the benchmark that is named."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("name", choices=RUNS)
    parser.add_argument(
        "--small", action="store_true", help="less of everything, to see that it runs"
    )
    parser.add_argument(
        "--folder", type=Path, help="files: real files; floor, english: judged sets"
    )
    parser.add_argument("--against", metavar="COMMIT", help="promises: a commit to compare with")
    parser.add_argument(
        "--full", action="store_true", default=None, help="team: with 100,000 memories"
    )
    chosen = vars(parser.parse_args())
    module = RUNS[chosen.pop("name")]
    figures = module.run(**{name: value for name, value in chosen.items() if value is not None})
    print(json.dumps(figures, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
