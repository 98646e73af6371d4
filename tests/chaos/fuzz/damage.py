"""Damage to the files of a checkpoint, of which much still has the right checksum.

A file that only lost a bit is refused by its checksum. So plan and ledger are signed again, as by
one who means harm, and what reads their content has to refuse it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import strategies as st

from tests.chaos.fuzz.values import LATE_FILE, NAMED, TEXTS, changed, damaged, mostly

if TYPE_CHECKING:
    from collections.abc import Mapping

Files = dict[str, Any]
Prefixes = tuple[str, ...]
HEADER = 16  # bytes of a ledger entry: magic number, version, length, checksum
STATE = '{"folder":0,"partitions":1,"firstBatch":5,"ids":{"10000":["a"]}}'
READER = "0b2c7f2e-9a55-4b0e-8f0a-6a1f6f9a2d11-0"
TIMES = b"\xff" * 8, b"\x7f" + b"\xff" * 7, b"\x80" + b"\0" * 7, b"\0" * 8, b"\0" * 7 + b"\1"
LENGTHS = b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"\0\0\0\0", b"\0\0\0\1", b"\0\1\0\0"
BYTES = st.one_of(st.sampled_from([*TIMES, *LENGTHS, b"\0", b"\xff", b"\n"]), st.binary(max_size=9))
NUMBERS = (
    *("0", "1", "2", "3", "4", "5", "6", "4.1", "4.2"),
    *("-1", "-2", "-1.1", "00", "1.0", "x", ".5.tmp"),
    *("999999999999999999", "9223372036854775807", "-9223372036854775808", "9" * 40, "4.999999999"),
)
NEW: Mapping[str, bytes] = {
    "eventtide/history": b"v1\n",
    "eventtide/plan.4": b"",
    "eventtide/plan.999999999999999999": b"v2",
    f"eventtide/readers/{READER}_3": b"a query",
    f"eventtide/readers/{READER}_999999999999999999": b"\xff",
    "eventtide/late/fold1-2-4": b"v1\n",
    "eventtide/late/compact-0-4": b"v1\n",
    "eventtide/late/forgotten-999999999999999999": b"v1\n",
    "eventtide/late/window-99999999999.0": b"{}",
    "eventtide/late/window-0.99999999999": b"{}",
    "eventtide/late/window-7.0": b"{}",
    "eventtide/state/0/10000/0/1.zip": b"PK",
    "eventtide/state/x": b"",
    f"late/{LATE_FILE}": b"PAR1",
    "late/0-4-0-0123456789ab.snappy.parquet": b"PAR1",
}


FOLDERS = (
    *("late", "eventtide", "eventtide/late", "eventtide/ledger"),
    *("eventtide/readers", "eventtide/runs", "eventtide/state", "eventtide/state/0"),
)
TARGETS = NAMED, f"{NAMED}/secret.txt", f"{NAMED}/checkpoint", f"{NAMED}/late"


class Link(NamedTuple):
    """A symbolic link, and where it leads."""

    to: str


class Signed(NamedTuple):
    """A plan or a ledger entry with another content, of which it gets the right checksum."""

    head: bytes
    content: bytes

    def whole(self, content: bytes) -> bytes:
        """Return the file with its content, in which marks are paths now."""
        checked = checksum(content)
        if not self.head:
            return f"v2 {checked:08x}\n".encode() + content
        return (
            self.head[:8] + len(content).to_bytes(4, "big") + checked.to_bytes(4, "big") + content
        )


def checksum(content: bytes) -> int:
    """Return the CRC32C of bytes."""
    crc = 0xFFFFFFFF
    for byte in content:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def _of(crc: int) -> int:
    for _ in range(8):
        crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc


_TABLE = [_of(byte) for byte in range(256)]


@st.composite
def _json(draw: st.DrawFn, text: str) -> str:
    try:
        data = json.loads(text)
    except ValueError:
        return text
    shown = json.dumps(draw(changed(data)))
    return draw(damaged(shown, st.sampled_from(TEXTS))) if draw(st.integers(0, 3)) == 0 else shown


@st.composite
def _lines(draw: st.DrawFn, content: bytes) -> bytes:
    """Change a line, which may be JSON."""
    lines = content.decode("utf-8", "replace").split("\n")
    at = draw(st.integers(0, len(lines) - 1))
    what = draw(st.sampled_from(["json", "json", "json", "again", "gone", "odd"]))
    if what == "json":
        lines[at] = draw(_json(lines[at]))
    elif what == "odd":
        lines[at] = draw(st.sampled_from(TEXTS))
    else:
        lines[at : at + 1] = [lines[at]] * (2 if what == "again" else 0)
    return "\n".join(lines).encode("utf-8", "replace")


def _content(path: str, content: bytes) -> st.SearchStrategy[bytes | Signed]:
    """Return other contents of a file, by what it has."""
    broken: st.SearchStrategy[bytes | Signed] = damaged(content, BYTES)
    signed: st.SearchStrategy[bytes | Signed]
    if path.startswith("eventtide/ledger/"):
        signed = damaged(content[HEADER:], BYTES).map(lambda of: Signed(content[:HEADER], of))
    elif path.startswith("eventtide/plan"):
        text = content.decode("utf-8", "replace").partition("\n")[2]
        signed = _json(text).map(lambda of: Signed(b"", of.encode("utf-8", "replace")))
    elif path.startswith("eventtide/runs/"):
        run = content.partition(b"\n")[0] + b"\n"
        signed = _json(STATE).map(lambda of: run + of.encode("utf-8", "replace"))
    elif path.startswith(("late/", "state/", "eventtide/state")):
        return broken
    else:
        signed = _lines(content)
    return mostly(signed, broken)


@st.composite
def _step(draw: st.DrawFn, files: Files, aim: Prefixes) -> Files:
    """Return the files that a step changes; None is one that it removes."""
    plain = [path for path, content in files.items() if isinstance(content, bytes)]
    path = draw(_aimed(sorted(plain, key=_rank), aim))
    what = draw(st.sampled_from(STEPS))
    if what == "content":
        return {path: draw(_content(path, files[path]))}
    if what == "remove":
        return {path: None}
    if what == "new":
        name = draw(_aimed([*NEW], aim))
        like = draw(st.sampled_from([NEW[name], files[path]]))
        return {name: draw(st.sampled_from([like, like, b""]))}
    if what == "link":
        return {draw(st.sampled_from([path, *FOLDERS])): Link(draw(st.sampled_from(TARGETS)))}
    other = draw(st.sampled_from(plain))
    if what == "swap":
        return {path: files[other], other: files[path]}
    name = re.sub(r"[^/]*$", draw(st.sampled_from(NUMBERS)), path)
    return {name: files[path]} if what == "copy" else {path: None, name: files[path]}


STEPS = (
    "content",
    "content",
    "content",
    "content",
    "new",
    "remove",
    "swap",
    "copy",
    "rename",
    "link",
)


def _aimed(paths: list[str], aim: Prefixes) -> st.SearchStrategy[str]:
    """Return paths, of which most begin as is said, if any does."""
    aimed = [path for path in paths if path.startswith(aim)]
    return mostly(st.sampled_from(aimed or paths), st.sampled_from(paths))


def _rank(path: str) -> tuple[bool, str]:
    """Return the order of files: those of Eventtide come first."""
    return not path.startswith(("eventtide/", "late/")), path


@st.composite
def damage(draw: st.DrawFn, files: Mapping[str, bytes], aim: Prefixes) -> Files:
    """Return the files that are others, are new or, as None, are gone; most begin as `aim` says."""
    changes: Files = {}
    for _ in range(draw(st.integers(1, 3))):
        now = {
            path: content for path, content in {**files, **changes}.items() if content is not None
        }
        changes |= draw(_step(now, aim))
    return changes
