"""Reproducible chance: streams that depend on a seed and on names, never on what was drawn before."""

from __future__ import annotations

import hashlib

from pooling.heavy import NDArray, np


def stream(seed: int, *names: str, event: int = 0) -> np.random.Philox:
    """A counter-based generator of its own for each seed, names and event number (0, 1, 2 …)."""
    key = hashlib.blake2b("\0".join((str(seed), *names)).encode(), digest_size=16).digest()
    # Events lie 2^64 blocks apart, so they never overlap.
    return np.random.Philox(key=np.frombuffer(key, dtype="<u8").astype(np.uint64), counter=event << 64)


def uniforms(source: np.random.Philox, count: int) -> NDArray[np.float64]:
    """`count` numbers in (0, 1], from raw bits: the same on every platform and in every version of NumPy."""
    return ((source.random_raw(count) >> np.uint64(11)).astype(np.float64) + 1) / 2.0**53
