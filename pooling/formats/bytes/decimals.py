"""Numbers cut out of a text, all at once: exactly the float64 that reading each of them alone gives."""

from __future__ import annotations

from functools import cache

from pooling.formats.bytes.ids import WORD, Codes, Words, words_at
from pooling.heavy import Integers, np, npt

_MINUS, _POINT = 0x2D ^ 0x30, 0x2E ^ 0x30


_ZERO, _MARK, _HIGH, _ABOVE_NINE = 0x30, 0x10, 0x80, 0x80 - 10


@cache
def _every_byte(code: int) -> np.uint64:
    return np.uint64(int.from_bytes(bytes([code] * WORD), "little"))


def decimals(codes: Codes, start: Integers, length: Integers) -> npt.NDArray[np.float64] | None:
    """(n,) values of numbers such as 12.345 or -7; None where one is written in another way or too long.

    At most seven digits before the point and eight behind it: together a whole number below 10¹⁵, which a
    float64 holds exactly, as it does the power of ten, so that one division gives the nearest float64.
    """
    if len(length) and length.max() == 1:  # labels, mostly
        digits = codes[start] ^ np.uint8(0x30)
        return digits.astype(np.float64) if digits.max() <= 9 else None
    # '0' ^ c is the digit's value; in a point or a blank bit 4 is set then, in digits it is not.
    text = words_at(codes, start) ^ _every_byte(_ZERO)
    negative = (text & np.uint64(0xFF)) == _MINUS
    if negative.any():
        start, length = start + negative, length - negative
        text = words_at(codes, start) ^ _every_byte(_ZERO)
    marks = text & _every_byte(_MARK)
    whole = np.bitwise_count((marks & -marks) - np.uint64(1)) >> np.uint8(3)  # digits before the first mark
    fraction = length - whole - 1
    if not len(start) or whole.min() < 1 or whole.max() >= WORD or fraction.max() > WORD:
        return None
    point = (text >> _bits(whole)) & np.uint64(0xFF)
    if not bool((((point == _POINT) & (fraction > 0)) | (fraction == -1)).all()):
        return None
    behind = text >> _bits(whole + 1) if length.max() <= WORD else _words_behind(codes, start, length, whole)
    places = np.maximum(fraction, 0).astype(np.uint8)
    return _values(
        text << _bits(WORD - whole),
        behind << _bits(WORD - places),
        whole=whole,
        places=places,
        negative=negative,
    )


def _bits(count: npt.NDArray[np.uint8]) -> Words:
    return count.astype(np.uint64) << np.uint64(3)


def _words_behind(codes: Codes, start: Integers, length: Integers, whole: npt.NDArray[np.uint8]) -> Words:
    return words_at(codes, start + np.minimum(whole + 1, length)) ^ _every_byte(_ZERO)


def _values(
    before: Words,
    behind: Words,
    *,
    whole: npt.NDArray[np.uint8],
    places: npt.NDArray[np.uint8],
    negative: npt.NDArray[np.bool_],
) -> npt.NDArray[np.float64] | None:
    """Both sides of the point are digits at the upper end of their words, zeros below."""
    either = before | behind
    if bool(
        (
            (either | (before + _every_byte(_ABOVE_NINE)) | (behind + _every_byte(_ABOVE_NINE)))
            & _every_byte(_HIGH)
        ).any()
    ):
        return None
    if int((whole + places).max()) <= WORD:
        digits = _number((before >> _bits(places)) | behind)
    else:
        digits = _number(before) * (np.uint64(10) ** places.astype(np.uint64)) + _number(behind)
    values = digits.astype(np.float64)
    values /= (10.0 ** np.arange(WORD + 1))[places]  # exact
    if negative.any():
        np.negative(values, out=values, where=negative)
    return values


def _number(digits: Words) -> Words:
    """The number that eight bytes of digits write, the first in the lowest byte: pairs, fours, all eight."""
    pairs = digits * np.uint64(10) + (digits >> np.uint64(8))
    mask = np.uint64(0x000000FF000000FF)
    high = (pairs & mask) * np.uint64(100 + (1_000_000 << 32))
    low = ((pairs >> np.uint64(16)) & mask) * np.uint64(1 + (10_000 << 32))
    return (high + low) >> np.uint64(32)
