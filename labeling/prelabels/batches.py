"""A pass through the Batch interface of a server: handed in as files, answered within a day, for less.

Which batches are under way stands in the row of the pass, with the most that they can cost, before the server
knows of them; one that a kill left without its number is found again by the label it was handed in with.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, TypedDict

from labeling.language_models.client import (
    ModelError,
    NotTakenError,
    PassingError,
    StopError,
    UnanswerableError,
    batch_result,
)
from labeling.prelabels.running import (
    BUDGET,
    CANCEL,
    MOST_ATTEMPTS,
    PAUSE,
    STOP,
    TURN,
    CancelledPassError,
    Pass,
    with_answer,
)
from labeling.prelabels.work import Question, QuestionOutcome, VersionedPair

MOST_REQUESTS = 10_000
MOST_BYTES = 90_000_000
POLL_SECONDS = 30.0
CANCEL_SECONDS = 5.0


class HandedIn(TypedDict):
    """A batch as its pass keeps it: the server's `id`, once it is known, and what it costs `at_most`."""

    part: int
    id: str | None
    count: int
    at_most: str


@dataclass(frozen=True)
class Waiting:
    """A question that a batch was handed in with, and the most that its answer can cost."""

    text_hash: str
    pairs: list[VersionedPair]
    at_most: Decimal


@dataclass
class BatchPass(Pass):
    """One turn of such a pass: what is done is fetched, or what is left is handed in."""

    _waiting: dict[str, Waiting] = field(default_factory=dict)
    _is_short: bool = False  # the budget kept something out
    _took: int = 0  # results
    _paid: Decimal = Decimal(0)  # for those of the batch that is being read

    async def _ask_everything(self) -> None:
        try:
            self._batches: list[HandedIn] = list(self.job.batches)
            self.budget.set_aside += sum((Decimal(one["at_most"]) for one in self._batches), Decimal(0))
            # One in the ordinary way: a wrong key or name is known at once, and what the server takes.
            if not (self._batches or self.job.dialect or await self._ask_next()):
                return
            is_new = not self._batches
            await (self._hand_in_everything() if is_new else self._read_everything())
            while self._batches and not self.ending.word:
                if not await self._fetch_ended():
                    break
        except ModelError as error:
            # What was handed in stands in the row, and is found again.
            self.stop(STOP, error.detail)
        except CancelledPassError:
            pass
        finally:
            if self.ending.word == CANCEL:
                await self._cancel_batches()
            self._finished.set()

    async def _read_everything(self) -> None:
        """Know the pairs that answers may come for."""
        while question := await self._next_question():
            at_most = self._most_cost(self.prompt.messages(*question.texts))
            self._waiting[question.key] = Waiting(question.text_hash, question.pairs, at_most)

    async def _hand_in_everything(self) -> None:
        lines: list[bytes] = []
        size, at_most = 0, Decimal(0)
        while not self.ending.word and (question := await self._next_question()):
            line, cost = self._line(question)
            if not self.budget.reserve(cost):
                if not self.budget.set_aside:
                    self.stop(BUDGET)
                self._is_short = True
                break
            if len(lines) == MOST_REQUESTS or size + len(line) > MOST_BYTES:
                await self._hand_in(lines, at_most)
                lines, size, at_most = [], 0, Decimal(0)
            lines.append(line)
            size, at_most = size + len(line), at_most + cost
            self._waiting[question.key] = Waiting(question.text_hash, question.pairs, cost)
        if lines:
            await self._hand_in(lines, at_most)

    def _line(self, question: Question) -> tuple[bytes, Decimal]:
        messages = self.prompt.messages(*question.texts)
        body = self.asking.body(messages, self.dialect)
        request = {"custom_id": question.key, "method": "POST", "url": "/v1/chat/completions", "body": body}
        return json.dumps(request).encode() + b"\n", self._most_cost(messages)

    async def _hand_in(self, lines: list[bytes], at_most: Decimal) -> None:
        part = 1 + max((one["part"] for one in self._batches), default=self.job.request_count)
        batch: HandedIn = {"part": part, "id": None, "count": len(lines), "at_most": str(at_most)}
        self._batches.append(batch)
        await self._note()
        self.requests += len(lines)
        handed_in = self.client.hand_in(b"".join(lines), self._label(batch))
        batch["id"] = await self._unless_cancelled(handed_in)
        await self._note()

    async def _fetch_ended(self) -> bool:
        """Take what has been answered; False when all that is left is to wait for another turn."""
        for batch in list(self._batches):
            if batch["id"] is None:
                batch["id"] = await self._patiently(self.client.find_batch, self._label(batch))
                if batch["id"] is None:  # the server never heard of it
                    await self._drop(batch)
                    continue
            state, results = await self._patiently(self.client.fetch_batch, batch["id"])
            for line in results:
                self._take_result(batch_result(line))
            if state == "failed" and not results:
                self.stop(STOP, "The server could not process the batch. Try without the Batch interface.")
            elif state in ("expired", "cancelled"):
                self.stop(PAUSE, f"The batch ended as {state}. Its answers are saved; resume for the rest.")
            if state in ("completed", "failed", "expired", "cancelled"):
                await self._drop(batch)
        if not self._batches:
            # What the budget kept out, or what has to be asked in other words, is for another round.
            if not self.ending.word and (self._waiting or self._is_short):
                self.stop(*((TURN,) if self._took else (STOP, "The server's batches return no answers.")))
            return False
        if self.seconds is not None:
            self.stop(TURN)
            return False
        await self._pause(POLL_SECONDS)
        return True

    async def _cancel_batches(self) -> None:
        """Tell the server, which may not listen: the pass has ended anyway."""
        with contextlib.suppress(TimeoutError, ModelError):
            async with asyncio.timeout(CANCEL_SECONDS):
                for batch in self._batches:
                    if batch["id"] is not None:
                        await self.client.cancel_batch(batch["id"])

    def _take_result(self, result: Mapping[str, Any]) -> None:
        key = result.get("custom_id")
        if not isinstance(key, str) or key not in self._waiting:
            return  # stored already, or the text has changed since
        asked = self._waiting.pop(key)
        self._took += 1
        self._asked.pop(key, None)
        outcome = QuestionOutcome(key, asked.text_hash, asked.pairs, attempts=1)
        response = result.get("response")
        response = response if isinstance(response, Mapping) else {}
        try:
            if response.get("status_code") != 200:
                raise self._problem(response)
            answer = self.client.answer_of(response.get("body") or {})
        except NotTakenError as error:
            self.dialect = error.dialect  # it comes again in another round
        except StopError as error:
            self.stop(STOP, error.detail)
        except (PassingError, UnanswerableError) as error:
            uncertain = asked.at_most if error.may_be_paid else Decimal(0)
            self._paid += uncertain
            self._keep(replace(outcome, reason=error.reason, detail=error.detail, uncertain=uncertain))
        else:
            paid = replace(
                outcome,
                cost=self._cost(answer, asked.at_most),
                input_tokens=answer.input_tokens or 0,
                output_tokens=answer.output_tokens or 0,
            )
            self._paid += paid.cost
            self._keep(with_answer(paid, self.prompt.name, answer))

    async def _patiently(self, call: Callable[[Any], Coroutine[Any, Any, Any]], argument: Any) -> Any:
        """A call that may be repeated, as often as a question is."""
        for attempt in range(1, MOST_ATTEMPTS):
            try:
                return await self._unless_cancelled(call(argument))
            except PassingError as error:
                await self._wait(attempt, error.wait)
        return await self._unless_cancelled(call(argument))

    def _problem(self, response: Mapping[str, Any]) -> ModelError:
        status = response.get("status_code")
        known = status if isinstance(status, int) and status else 500
        return self.client.problem(known, response.get("body"), self.asking.model, self.dialect)

    async def _drop(self, batch: HandedIn) -> None:
        """Forget a batch, in the transaction that stores its answers at the latest."""
        cost, self._paid = self._paid, Decimal(0)
        self.budget.settle(Decimal(batch["at_most"]), cost)
        self._batches.remove(batch)
        await self._note()

    async def _note(self) -> None:
        await self._store(batches=list(self._batches))

    def _label(self, batch: HandedIn) -> dict[str, str]:
        return {"soundings": f"pass {self.job.pk}, part {batch['part']}"}
