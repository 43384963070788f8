"""The control arm: pairs that stay blind in every mode, drawn once and for all by a stored seed. Pure."""

from __future__ import annotations

from hashlib import blake2b


def is_blind(seed: int, share: float, query: int, document: int) -> bool:
    """True for a pair, by its keys, in the control arm.

    The same seed always draws the same; a larger share adds pairs and takes none away. Nobody without the
    seed can tell which.

    >>> sum(is_blind(7, 0.1, query, document) for query in range(100) for document in range(100))
    981
    """
    pair = f"{query} {document}".encode()
    digest = blake2b(pair, key=seed.to_bytes(8, signed=True), digest_size=8).digest()
    return int.from_bytes(digest) < share * 2**64
