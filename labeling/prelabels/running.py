"""A pass at work: this many requests at a time, patient with a server in trouble, and within its budget.

What it holds to:

1. Before a request is sent, the most that it can cost is set aside; the sum of what was paid, may have been
   paid and is set aside never passes the cap.
2. An answer is in the journal before anything else happens, and in the database a second later. What a kill
   can lose is what the server had not answered yet; that is at most one request for each of `concurrency`.
3. What failed is a failure with its reason and never a verdict. What no request can get past ends the pass.
4. The database is written to in batches by one thread, so nobody who judges waits for a pass.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, TypeVar

from asgiref.sync import async_to_sync, sync_to_async

from labeling.models import PrelabelJob
from labeling.prelabels.client import (
    Answer,
    Asking,
    Dialect,
    ModelClient,
    NotTakenError,
    PassingError,
    StopError,
    UnanswerableError,
)
from labeling.prelabels.costs import Budget, Prices, cost_of, most_cost
from labeling.prelabels.journal import Journal
from labeling.prelabels.model_answers import MalformedAnswerError, Reading, read_answer, storable
from labeling.prelabels.prompting import Prompt
from labeling.prelabels.storing import store_outcomes
from labeling.prelabels.work import Chunk, Question, QuestionOutcome

MOST_ATTEMPTS = 6
MOST_TIME_OUTS = 2  # each takes a whole time-out, and may be paid
# A server that has answered is waited for when it is away: three or four minutes, for one that is restarted
# and has to load its model.
MOST_WAITS_WHILE_AWAY = 15
FIRST_WAIT = 0.5  # seconds, doubled with each attempt and drawn between half and all of it
LONGEST_WAIT = 30.0
# No server is waited for longer, whatever it asks for; one that asks for more than the second ends the pass.
LONGEST_RETRY_AFTER, MOST_RETRY_AFTER = 120.0, 600.0
FLUSH_SECONDS = 0.5
# This many questions in a row that the server was at fault for: it is in trouble. Fewer will do before it has
# answered anything.
MOST_FAILURES_IN_A_ROW, MOST_BEFORE_AN_ANSWER = 20, 3
SERVERS_FAULT = ("rate_limit", "server", "time_out", "connection")

# Why a pass ends before its last question.
PAUSE, CANCEL, TURN, BUDGET, STOP = "pause", "cancel", "turn", "budget", "stop"

Result = TypeVar("Result")
Sleep = Callable[[float], Awaitable[None]]
Progress = Callable[[PrelabelJob], None]


class CancelledPassError(Exception):
    """The pass was cancelled while a request was under way."""


@dataclass
class Ending:
    """Why a pass ended: nothing for its last question, else one of the words above, with a sentence."""

    word: str = ""
    detail: str = ""


@dataclass
class Pass:
    """One run of a pass, to its end or until it is stopped. `run` is called once."""

    job: PrelabelJob
    prompt: Prompt
    asking: Asking
    client: ModelClient
    journal: Journal
    work: Iterator[Chunk]
    prices: Prices | None
    seconds: float | None = None  # its turn, after which it lets others work
    sleep: Sleep | None = None  # for tests, which do not wait
    progress: Progress | None = None
    chance: random.Random = field(default_factory=random.Random)

    def __post_init__(self) -> None:
        job = self.job
        self.ending = Ending()
        self.dialect = Dialect.from_dict(job.dialect)
        self.budget = Budget(job.budget, job.cost + job.uncertain_cost)
        self.requests = job.request_count
        self._questions: deque[Question] = deque()
        self._pending: dict[str, Question] = {}  # waiting or being asked
        self._fresh: list[QuestionOutcome] = []  # not in the database yet
        self._storing: dict[str, QuestionOutcome] = {}
        self._failures_in_a_row = 0
        self._has_answered = job.answered_count > 0
        self._waits_for = ""  # in a sentence
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self) -> Ending:
        """Ask everything there is to ask; the database is used in this thread alone."""
        async_to_sync(self._run)()
        return self.ending

    def stop(self, word: str, detail: str = "") -> None:
        """Let the pass end once what was sent is stored, or at once if cancelled; thread and signal safe."""
        if not self.ending.word or word == CANCEL:
            self.ending = Ending(word, detail)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._stopped.set)
            if word == CANCEL:
                self._loop.call_soon_threadsafe(self._cancelled.set)

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopped, self._finished, self._cancelled = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._freed, self._fetching, self._storing_turn = asyncio.Condition(), asyncio.Lock(), asyncio.Lock()
        self._not_before = 0.0
        self._deadline = None if self.seconds is None else self._loop.time() + self.seconds
        if self.ending.word:
            return
        try:
            async with self.client, asyncio.TaskGroup() as group:
                group.create_task(self._keep_storing())
                group.create_task(self._ask_everything())
        except BaseExceptionGroup as errors:
            raise _first(errors) from None

    # The flow of questions.

    async def _ask_everything(self) -> None:
        try:
            # One first: a wrong key or name costs one request, and what the server takes is known then.
            if await self._ask_next():
                async with asyncio.TaskGroup() as group:
                    for _ in range(self.job.concurrency):
                        group.create_task(self._keep_asking())
        finally:
            self._finished.set()

    async def _keep_asking(self) -> None:
        while await self._ask_next():
            pass

    async def _ask_next(self) -> bool:
        """Ask the next question; False when there is none, or the pass is to end."""
        question = None if self.ending.word else await self._next_question()
        if question is None:
            return False
        outcome = await self._ask(question)
        if outcome is not None:
            self._take(question, outcome)
        # Not before: even the shortest turn gets something done.
        if self._deadline is not None and asyncio.get_running_loop().time() > self._deadline:
            self.stop(TURN)
        return not self.ending.word

    async def _next_question(self) -> Question | None:
        async with self._fetching:
            while not self._questions:
                chunk = await sync_to_async(self._read_next)()
                if chunk is None:
                    return None
                # Without a pause in between: what was read is compared with what nobody has stored meanwhile.
                self._add(chunk)
        return self._questions.popleft()

    def _read_next(self) -> Chunk | None:
        return next(self.work, None)

    def _add(self, chunk: Chunk) -> None:
        for outcome in chunk.outcomes:
            self._keep(outcome)
        for question in chunk.questions:
            earlier = self._storing.get(question.key) or next(
                (outcome for outcome in self._fresh if outcome.key == question.key), None
            )
            if question.key in self._pending:
                self._pending[question.key].pairs += question.pairs
            elif earlier is not None:
                self._keep(replace(_free_copy(earlier), pairs=question.pairs))
            else:
                self._pending[question.key] = question
                self._questions.append(question)

    def _take(self, question: Question, outcome: QuestionOutcome) -> None:
        del self._pending[question.key]
        self._keep(outcome)
        servers_fault = outcome.reason in SERVERS_FAULT
        self._failures_in_a_row = self._failures_in_a_row + 1 if servers_fault else 0
        most = MOST_FAILURES_IN_A_ROW if self._has_answered else MOST_BEFORE_AN_ANSWER
        if self._failures_in_a_row >= most:
            url, latest = self.job.prelabeler.base_url, f"most recently: {outcome.detail.rstrip('.')}."
            many = f"{most} requests in a row got no answer"
            self.stop(STOP, f"{url} has problems: {many}; {latest} Resume when it works again.")

    def _keep(self, outcome: QuestionOutcome) -> None:
        self.journal.outcome(outcome)
        self._fresh.append(outcome)

    # One question.

    async def _ask(self, question: Question) -> QuestionOutcome | None:
        """The outcome of a question; None where the pass ends before it is known."""
        messages = self.prompt.messages(*question.texts)
        at_most = most_cost(self.prices, messages, self.asking.max_tokens)
        attempts, waits, uncertain = 0, 0, Decimal(0)
        while True:
            if not (await self._may_send() and await self._reserve(at_most)):
                return self._given_up(question, attempts, uncertain)
            self.journal.sent(question.key, at_most)
            self.requests += 1
            dialect, began = self.dialect, asyncio.get_running_loop().time()
            try:
                answer = await self._unless_cancelled(self.client.ask(self.asking, messages, dialect))
            except CancelledPassError:
                await self._settle(question, at_most, at_most, is_open=True)
                return self._given_up(question, attempts, uncertain + at_most)
            except NotTakenError as error:
                await self._settle(question, at_most, Decimal(0), is_open=False)
                # Others may have found it out meanwhile.
                self.dialect = error.dialect if self.dialect == dialect else self.dialect
                continue
            except PassingError as error:
                if error.is_away:
                    # No model has seen it: not checked against the question.
                    await self._settle(question, at_most, Decimal(0), is_open=False)
                    waits += 1
                    await self._wait_for_server(waits, error)
                    continue
                attempts += 1
                paid = at_most if error.may_be_paid else Decimal(0)
                uncertain += paid
                await self._settle(question, at_most, paid, is_open=error.may_be_paid)
                if attempts >= (MOST_TIME_OUTS if error.reason == "time_out" else MOST_ATTEMPTS):
                    return self._failure(
                        question, error.reason, detail=error.detail, attempts=attempts, uncertain=uncertain
                    )
                await self._wait(attempts, error.wait)
                continue
            except UnanswerableError as error:
                paid = at_most if error.may_be_paid else Decimal(0)
                uncertain += paid
                await self._settle(question, at_most, paid, is_open=True)
                return self._failure(
                    question, error.reason, detail=error.detail, attempts=attempts + 1, uncertain=uncertain
                )
            except StopError as error:
                await self._settle(question, at_most, Decimal(0), is_open=False)
                self.stop(STOP, error.detail)
                return self._given_up(question, attempts, uncertain)
            self._has_answered, self._waits_for = True, ""
            seconds = asyncio.get_running_loop().time() - began
            cost = cost_of(self.prices, answer.input_tokens, answer.output_tokens, at_most)
            await self._settle(question, at_most, cost, is_open=True)
            outcome = QuestionOutcome(
                question.key,
                question.text_hash,
                question.pairs,
                attempts=attempts + 1,
                input_tokens=answer.input_tokens or 0,
                output_tokens=answer.output_tokens or 0,
                cost=cost,
                uncertain=uncertain,
                seconds=seconds,
            )
            return with_answer(outcome, self.prompt.name, answer)

    async def _unless_cancelled(self, call: Coroutine[Any, Any, Result]) -> Result:
        """A call's result. As soon as the pass is cancelled the call is given up: `CancelledPassError`."""
        task = asyncio.ensure_future(call)
        cancelled = asyncio.ensure_future(self._cancelled.wait())
        try:
            await asyncio.wait((task, cancelled), return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise CancelledPassError
            return task.result()
        finally:
            cancelled.cancel()
            task.cancel()

    def _failure(
        self, question: Question, reason: str, *, detail: str, attempts: int, uncertain: Decimal
    ) -> QuestionOutcome:
        return QuestionOutcome(
            question.key,
            question.text_hash,
            question.pairs,
            reason=reason,
            detail=detail,
            attempts=attempts,
            uncertain=uncertain,
        )

    def _given_up(self, question: Question, attempts: int, uncertain: Decimal) -> QuestionOutcome | None:
        """A question that the end of the pass leaves open; money that may be gone is not forgotten."""
        if uncertain:
            self._keep(QuestionOutcome(question.key, "", [], attempts=attempts, uncertain=uncertain))
        return None

    # Waiting.

    async def _may_send(self) -> bool:
        """Wait while the server wants nobody to ask; False where the pass is to end."""
        while not self.ending.word:
            left = self._not_before - asyncio.get_running_loop().time()
            if left <= 0:
                return True
            await self._pause(left)
        return False

    async def _wait_for_server(self, waits: int, error: PassingError) -> None:
        """Wait for a server that is away; the pass stops where that has lasted too long."""
        problem = f"{self.job.prelabeler.base_url} cannot be reached: {error.detail.rstrip('.')}."
        if waits < (MOST_WAITS_WHILE_AWAY if self._has_answered else MOST_ATTEMPTS):
            self._waits_for = f"{problem} Waiting for it."
            await self._wait(waits, error.wait)
        else:
            self.stop(STOP, f"{problem} Resume when it can be reached again.")

    async def _wait(self, attempts: int, retry_after: float | None) -> None:
        if retry_after is not None and retry_after > MOST_RETRY_AFTER:
            hours = f"{retry_after / 3600:,.1f} hours" if retry_after < 1e6 else "a long time"
            self.stop(STOP, f"{self.job.prelabeler.base_url} asks to be left alone for {hours}. Resume then.")
            return
        longest = min(FIRST_WAIT * 2 ** (attempts - 1), LONGEST_WAIT)
        seconds = longest * (0.5 + self.chance.random() / 2)
        if retry_after is not None:
            # Everybody waits: others would only be refused as well.
            seconds += min(retry_after, LONGEST_RETRY_AFTER)
            if self.sleep is None:
                now = asyncio.get_running_loop().time()
                self._not_before = max(self._not_before, now + min(retry_after, LONGEST_RETRY_AFTER))
        await self._pause(seconds)

    async def _pause(self, seconds: float) -> None:
        if self.sleep is not None:
            await self.sleep(seconds)
            return
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stopped.wait(), seconds)

    async def _reserve(self, at_most: Decimal) -> bool:
        """Set aside what a request can cost, waiting for others to come back; False where it never fits."""
        async with self._freed:
            while not self.budget.reserve(at_most):
                if self.ending.word:
                    return False
                if not self.budget.set_aside:
                    self.stop(BUDGET)
                    return False
                await self._freed.wait()
        return True

    async def _settle(self, question: Question, at_most: Decimal, cost: Decimal, *, is_open: bool) -> None:
        if not is_open:
            self.journal.came_back(question.key)
        async with self._freed:
            self.budget.settle(at_most, cost)
            self._freed.notify_all()

    # Storing.

    async def _keep_storing(self) -> None:
        while not self._finished.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._finished.wait(), FLUSH_SECONDS)
            await self._store()

    async def _store(self, **facts: Any) -> None:
        async with self._storing_turn:
            fresh, self._fresh = self._fresh, []
            self._storing = {outcome.key: outcome for outcome in fresh}
            facts |= {"request_count": self.requests, "dialect": self.dialect.to_dict()}
            facts["detail"] = self._waits_for
            facts["offset"] = self.journal.offset
            command = await sync_to_async(store_outcomes)(self.job, fresh, **facts)
            self._storing = {}
        if command in (PAUSE, CANCEL):
            self.stop(command)
        if self.progress is not None:
            self.progress(self.job)


def with_answer(outcome: QuestionOutcome, prompt: str, answer: Answer) -> QuestionOutcome:
    if answer.refusal:
        return replace(outcome, reason="refused", detail=storable(answer.refusal)[:300])
    if answer.finish_reason == "content_filter":
        return replace(outcome, reason="filtered", detail="The server's filter stopped the answer.")
    if answer.finish_reason == "length":
        return replace(outcome, reason="truncated", detail="The answer exceeded its token limit.")
    try:
        reading: Reading = read_answer(prompt, answer.content, answer.tokens)
    except MalformedAnswerError as error:
        return replace(outcome, reason="malformed", detail=str(error))
    return replace(outcome, reading=reading)


def _free_copy(outcome: QuestionOutcome) -> QuestionOutcome:
    nothing = Decimal(0)
    return replace(
        outcome, is_known=True, cost=nothing, uncertain=nothing, input_tokens=0, output_tokens=0, seconds=0.0
    )


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    first = errors.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
