"""`python -m tests.contract record [PART…]` records what the product does today; `show` prints the
difference.
"""

import sys
import tempfile
from pathlib import Path

from tests.contract.door import Inside
from tests.contract.recorded import difference, record
from tests.contract.sections import SECTIONS


def main(args: list[str]) -> int:
    """Record all parts or the named ones, or print how they differ; return 1 when they do, 2 for
    wrong usage.
    """
    verb, *names = args or [""]
    if verb not in ("record", "show") or set(names) - set(SECTIONS):
        sys.stderr.write(f"{__doc__}\nParts: {', '.join(SECTIONS)}\n")
        return 2
    differs = False
    for name in names or SECTIONS:
        with tempfile.TemporaryDirectory() as folder:
            files = SECTIONS[name](Inside(), Path(folder))
        said = difference(name, files)
        differs = differs or bool(said)
        if said:
            sys.stdout.write(f"{name}:\n{said}\n")
        if verb == "record":
            record(name, files)
    return int(differs and verb == "show")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
