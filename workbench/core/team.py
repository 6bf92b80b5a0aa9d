"""The address of a store that a team shares, and the files that name one."""

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from workbench.core.files.fresh import open_handle
from workbench.core.record import StoreProblem, as_object
from workbench.core.text import counted

COPY = "team.json"
"""The file that says, in the folder of this machine's copy of a team's store, whose copy it is."""

BEGUN_ANEW = "begun-anew"
"""The file in the folder of a copy that was made anew: what was computed of the old one has to go."""

POINTER = "store.json"
"""The file that says, in the `.workbench` folder of a project, where its team's store is."""

PROPOSED = "proposed"
"""The key of a memory's metadata in a team's store that says which memory it was, and whose."""

PLACE = "team: "
"""How the place begins that a memory is promoted to which was proposed to a team."""

_LONGEST = 16_384
"""Bytes that are read of such a file; a longer one says nothing."""

_FORM = "Write postgresql://ROLE@HOST/DATABASE?store=NAME."

_SOCKET = re.compile(r"/[^,]*")
_WORD = r"[\w.%~+-]+"
_ADDRESS = re.compile(
    rf"postgres(?:ql)?://(?:{_WORD}@)?(?P<hosts>[A-Za-z0-9.:_,\[\]-]*)"
    rf"(?P<database>/(?:{_WORD})?)?(?:\?(?P<settings>[\w.%~+/=&-]*))?"
)
_SETTINGS = frozenset({
    "store", "sslmode", "sslrootcert", "channel_binding", "gssencmode", "connect_timeout",
    "target_session_attrs", "port",
})  # fmt: skip
"""What an address may set: nothing that leads to another server than it shows, or to a secret, a
program or a file that is written.
"""


def is_address(text: str) -> bool:
    """Tell whether a text is meant as the address of a team's store, and not as a path."""
    return "://" in text or text.startswith(("postgresql:", "postgres:"))


def checked(address: str) -> str:
    """Return an address; raises `StoreProblem` for one that cannot be read, holds a password, or
    says more than it may. What is returned can stand in a shell between single quotes.
    """
    from urllib.parse import parse_qsl, unquote, urlsplit  # few stores are a team's

    try:
        parts = urlsplit(address)
        has_password = parts.password is not None or any(
            name.endswith("password")
            for name, _ in parse_qsl(f"{parts.query}&{parts.fragment}", keep_blank_values=True)
        )
    except ValueError:
        raise StoreProblem("The address of the store cannot be read.", _FORM) from None
    if has_password:
        raise StoreProblem(
            "A password does not belong in an address: it would stand in files and in lists of processes.",
            "Keep it in ~/.pgpass or in PGPASSWORD, and leave it out of the address.",
        )
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise StoreProblem("The address of the store cannot be read.", _FORM)
    for setting in filter(None, (found["settings"] or "").split("&")):
        name, _, value = setting.partition("=")
        # Beside a host, the folder of a socket would take its place; a comma parts several.
        is_socket = name == "host" and not found["hosts"] and _SOCKET.fullmatch(unquote(value))
        if name not in _SETTINGS and not is_socket:
            raise StoreProblem(
                "The address of the store says something that it may not say.",
                f"Beside {', '.join(sorted(_SETTINGS))} it may name the folder of a socket: "
                "postgresql:///DATABASE?host=/FOLDER&store=NAME.",
            )
    return address


def shown(address: str) -> str:
    """Return an address as people read it: store, host and database."""
    found = _ADDRESS.fullmatch(address)
    assert found is not None, "whoever shows an address has checked it"
    store = re.search(r"(?:^|&)store=([^&]*)", found["settings"] or "")
    hosts = found["hosts"] or "this machine"
    return f"{store[1] if store else 'main'} at {hosts}{found['database'] or ''}"


def place_of(address: str) -> str:
    """Return what a memory is said to be promoted to that was proposed to a team."""
    return f"{PLACE}{shown(address)}"


def proposer(metadata: Mapping[str, object]) -> str:
    """Return who proposed a memory to the team, by its metadata; empty for any other."""
    said = metadata.get(PROPOSED)
    return str(said.get("by", "")) if isinstance(said, Mapping) else ""


def with_role(address: str) -> str:
    """Return an address with a place for a role, where it names none."""
    scheme, _, rest = address.partition("://")
    return address if "@" in rest.partition("/")[0] else f"{scheme}://ROLE@{rest}"


def without_role(address: str) -> str:
    """Return an address as everybody of a team may have it."""
    scheme, _, rest = address.partition("://")
    server, slash, database = rest.partition("/")
    return f"{scheme}://{server.rpartition('@')[2]}{slash}{database}"


def copy_name(address: str) -> str:
    """Return the name of the folder of this machine's copy of a store."""
    from hashlib import blake2b

    digest = blake2b(address.encode("utf-8", "replace"), digest_size=6).hexdigest()
    words = "".join(one if one.isascii() and one.isalnum() else "-" for one in shown(address))
    return f"{words[:60].strip('-')}-{digest}"


def address_in(file: Path) -> str:
    """Return the address that a file names; empty where there is none. Raises `StoreProblem` for a
    file that does not say one.
    """
    try:
        address = said_in(file).get("store")
    except FileNotFoundError:
        return ""
    except (OSError, ValueError, RecursionError) as error:
        raise StoreProblem(f"{file} cannot be read.", "Nothing was opened.") from error
    if not isinstance(address, str) or not is_address(address):
        raise StoreProblem(f"{file} names no store of a team.", _FORM)
    return checked(address)


def member_in(file: Path) -> tuple[str, bool] | None:
    """Return who connected last, by the file of a copy: the role, and whether it is one of agents.
    `None` where nobody did.
    """
    with suppress(OSError, ValueError, RecursionError):
        said = said_in(file)
        if isinstance(role := said.get("role"), str) and role:
            return role, said.get("is_agent") is True
    return None


def may_write(file: Path) -> bool:
    """Tell whether who connected last may add something, as far as the file of a copy knows."""
    with suppress(OSError, ValueError, RecursionError):
        return said_in(file).get("level") != "reader"
    return True


def said_in(file: Path) -> Mapping[str, object]:
    """Return what a small file of JSON says; raises `OSError`, `ValueError` and `RecursionError`."""
    with os.fdopen(open_handle(file, os.O_RDONLY), "rb") as opened:
        return as_object(json.loads(opened.read(_LONGEST)))


def hidden_store(folder: Path) -> str:
    """Say that a project has a store beside the pointer to the team's, which is not opened."""
    return (
        f"The store in {folder} is not shown, since this project uses its team's: "
        f"`workbench --store {folder} list` shows it, `workbench help team` says how to bring it along."
    )


class TeamState(NamedTuple):
    """How a team's store is reached from here: `away` says why it is not, and then no more is known
    than how many things wait to be delivered.

    `clock` is how many seconds the server's is ahead, `behind` how many changes this machine's copy
    lacks. `problems` are sentences.
    """

    name: str
    waiting: int
    away: str = ""
    role: str = ""
    level: str = ""
    is_agent: bool = False
    server: str = ""
    is_encrypted: bool = False
    clock: float = 0
    members: int = 0
    behind: int = 0
    problems: tuple[str, ...] = ()

    def sentences(self) -> list[str]:
        """Say all but the problems."""
        agent = ", for agents" if self.is_agent else ""
        encrypted = "encrypted" if self.is_encrypted else "not encrypted"
        said = [self.away] if self.away else [
            f"You are {self.role}, {self.level}{agent}, one of {counted(self.members, 'member')} of {self.name}.",
            f"PostgreSQL {self.server}, {encrypted}; the clocks differ by {abs(self.clock):.1f} seconds.",
        ]  # fmt: skip
        if self.behind:
            said.append(f"The copy on this machine lacks {counted(self.behind, 'change')}.")
        if self.waiting:
            things = counted(self.waiting, "thing waits", "things wait")
            said.append(f"{things} to be delivered; `workbench store sync` does that.")
        return said


def last_state(away: StoreProblem) -> str:
    """Say that a team's store cannot be reached, and what that means."""
    return f"{away} You see the last state that is known here; nothing is stored meanwhile."
