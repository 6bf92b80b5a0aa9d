"""The sources of a run, compiled once: the workers of xdist begin at the same time, and each would
compile them all.

In a fresh checkout that takes a worker longer than to read them, most of it for the asserts of the
tests, which pytest rewrites. Each worker begins at another place of the list, and finds compiled
what the others have done.
"""

import py_compile
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path

from _pytest.assertion import rewrite
from _pytest.config import Config


def share(config: Config, root: Path) -> None:
    """Compile what the run will read, beginning where no other worker begins; nothing when there
    are no workers.
    """
    given: dict[str, object] | None = getattr(config, "workerinput", None)
    state = config.stash.get(rewrite.assertstate_key, None)
    if given is None or state is None:
        return
    sources = sorted({*(root / "workbench").rglob("*.py"), *_tests(config)})
    at = (
        len(sources)
        * int(str(given["workerid"]).removeprefix("gw"))
        // int(str(given["workercount"]))
    )
    for source in sources[at:] + sources[:at]:
        _compile(source, config)


def _tests(config: Config) -> Iterator[Path]:
    """Return what stands in the folders that are run; of a single file only that file is read."""
    for argument in config.args:
        yield from (config.invocation_params.dir / argument.partition("::")[0]).rglob("*.py")


def _compile(source: Path, config: Config) -> None:
    """Compile a file as who imports it would, unless that was done since it was written.

    One that cannot be compiled, or not kept, is left to who imports it, and says why.
    """
    rewritten = source.name == "conftest.py" or any(
        source.match(kind) for kind in config.getini("python_files")
    )
    kept = Path(cache_from_source(source))
    if rewritten:
        kept = rewrite.get_cache_dir(source) / f"{source.stem}{rewrite.PYC_TAIL}"
    with suppress(OSError, SyntaxError, py_compile.PyCompileError):
        if kept.exists() and kept.stat().st_mtime >= source.stat().st_mtime:
            return
        if rewritten:
            kept.parent.mkdir(exist_ok=True)
            stat, code = rewrite._rewrite_test(source, config)
            rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, stat, kept)
        else:
            py_compile.compile(str(source), doraise=True)
