"""Bounds on answers of a server of models: of bounded length, unpacked, from where it was asked.

A server may be slow, broken or hostile. Its answers are counted while they come, so that none fills the
memory, and an answer that is packed, or says to ask elsewhere, is refused.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2

MOST_ANSWER_BYTES = 1_000_000
#: What asks the server for answers that are not packed.
PLAIN = {"Accept-Encoding": "identity"}


class RefusedAnswerError(Exception):
    """An answer that is not read to its end; the message says why."""


class _Counted(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        total = 0
        async for block in self._stream:
            total += len(block)
            if total > MOST_ANSWER_BYTES:
                raise RefusedAnswerError(f"The answer is longer than {MOST_ANSWER_BYTES:,} bytes.")
            yield block

    async def aclose(self) -> None:
        await self._stream.aclose()


async def bound_answer(response: httpx2.Response) -> None:
    """Let an answer be read up to its bound; called when its head has come."""
    packed = response.headers.get("content-encoding", "identity").lower()
    if packed not in ("", "identity"):
        raise RefusedAnswerError("The response is compressed, although compression was not requested.")
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Counted(response.stream)
