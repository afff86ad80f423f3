"""Mutated inputs for every reader: an error that is promised, soon, and nothing executed."""

from __future__ import annotations

import random
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import FrameType

from scene import HANG_SECONDS, Tally

# What no input may bring about. Pickles, imports of modules by name, processes, connections.
_FORBIDDEN = {
    "os.system", "os.exec", "os.posix_spawn", "os.fork", "subprocess.Popen", "pickle.find_class",
    "socket.connect", "ctypes.dlopen",
}  # fmt: skip
_TOKENS = (
    b"\0", b"\xff", b"\x1b[31m", b'"', b",", b"\n", b"\r\n", b"{", b"}", b"[", b"null", b"NaN",
    b"1e999", b"-1", b"0", b"9" * 30, b"\xef\xbb\xbf", b"\x1f\x8b", b"PAR1", b'"data_offsets":',
    b"__reduce__", b"2147483648", b"true", b"\xe2\x80\xae",
)  # fmt: skip

# The reader, as harness and group of its inputs, and its share of all inputs.
_SHARES = {
    "model": 0.3,
    "files CSV": 0.25,
    "files JSON": 0.14,
    "files Parquet": 0.15,
    "files workbook": 0.05,
    "files DuckDB": 0.01,
    "store": 0.1,
}

READERS = tuple(_SHARES)

_executed: list[str] = []
_watching = False


class HangError(Exception):
    """An input took too long."""


def soak_readers(n_inputs: int, seed: int, readers: Sequence[str] | None = None) -> Iterator[Tally]:
    """Feed mutated inputs to each reader, through the harnesses of tests/fuzz."""
    shares = {name: _SHARES[name] for name in readers or _SHARES}
    sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))
    sys.addaudithook(_audit)
    for name, share in shares.items():
        module, _, group = name.partition(" ")
        harness = import_module(f"fuzz_{module}")
        seeds = harness.groups()[group] if group else harness.seeds()
        tally = Tally(f"mutated inputs: {group or module}")
        n_tried = round(share / sum(shares.values()) * n_inputs)
        yield _soak(harness.one_input, seeds, n_tried, random.Random(seed), tally)


def _soak(
    one_input: Callable[[bytes], None],
    seeds: list[bytes],
    n_inputs: int,
    rng: random.Random,
    tally: Tally,
) -> Tally:
    longest = 0.0
    for _ in range(n_inputs):
        data = mutate(rng, seeds)
        began = time.perf_counter()
        flaw = _try(one_input, data)
        longest = max(longest, time.perf_counter() - began)
        tally.n_tried += 1
        tally.check(not flaw, f"{flaw}: {data[:100]!r}")
    tally.remark = f"the longest took {longest:.1f} s"
    return tally


def _try(one_input: Callable[[bytes], None], data: bytes) -> str:
    """Return what is wrong with how an input is taken."""
    _executed.clear()
    try:
        with _at_most(HANG_SECONDS), _watched():
            one_input(data)
    except Exception as error:  # noqa: BLE001  whatever is not promised is a flaw
        return f"{type(error).__name__}: {error}"
    return f"it executed {_executed}" if _executed else ""


def mutate(rng: random.Random, seeds: list[bytes]) -> bytes:
    """Return one of the seeds after a few random changes, mostly behind its first byte."""
    data = bytearray(rng.choice(seeds))
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at = rng.randrange(min(1, len(data)), len(data) + 1)
        match rng.randrange(7):
            case 0 if at < len(data):
                data[at] ^= 1 << rng.randrange(8)
            case 1:
                data[at:at] = rng.choice(_TOKENS)
            case 2:
                del data[at : at + rng.choice((1, 2, 8, 64))]
            case 3:
                del data[at:]
            case 4:
                other = rng.choice(seeds)
                data[at:] = other[rng.randrange(len(other)) :]
            case 5:
                data[at : at + 4] = rng.randbytes(4)
            case 6:
                data[at:at] = data[at : at + 40] * rng.choice((1, 2, 50))
    if rng.random() < 0.02 and data:
        data[0] = rng.randrange(256)
    return bytes(data)


def _audit(event: str, _: object) -> None:
    if _watching and event in _FORBIDDEN:
        _executed.append(event)


@contextmanager
def _watched() -> Iterator[None]:
    global _watching
    _watching = True
    try:
        yield
    finally:
        _watching = False


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    def stop(_: int, __: FrameType | None) -> None:
        raise HangError(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
