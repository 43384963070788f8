"""Asking a language model, by any server that speaks the OpenAI interface: the one file that knows `openai`.

An answer comes back whole, or one of the errors below says what to do about it: ask again, give the pair up,
ask in other words, or stop. Nothing here knows of budgets, storing or retrying.
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypedDict

import httpx2

from labeling.prelabels.model_answers import TokenChoice, storable
from labeling.prelabels.prompting import Messages
from pooling.engines.connections import seconds_to_wait
from pooling.storage.secrets import HIDDEN, redacted

if TYPE_CHECKING:
    from openai import AsyncOpenAI

# Bounds on answers of a server of models: of bounded length, unpacked, from where it was asked.
#
# A server may be slow, broken or hostile. Its answers are counted while they come, so that none fills the
# memory, and an answer that is packed, or says to ask elsewhere, is refused.

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


COMPLETIONS = "/chat/completions"
MOST_DETAIL = 300  # characters of what a server says
MOST_TOKENS = 10**8  # of a request or an answer
TOP_LOGPROBS = 5
# A shorter key may be a word that answers hold anyway, such as the one of a server that takes any.
SHORTEST_HIDDEN = 8
# Any key will do where none is asked for; the library wants one.
NO_KEY = "none"
# The forms of an answer that are asked for, from the strictest to none.
FORMATS = ("json_schema", "json_object", "none")
# What a server may say of a parameter that it does not take, and what to do then.
_DROPPED = ("top_logprobs", "logprobs", "seed", "temperature")
# Bad requests, and what some servers (llama-cpp-python) make of them.
_REFUSING = (400, 422, 500, 501)
# Nobody behind a proxy, or a model that is being loaded.
_AWAY = (502, 503)
# How servers say that a text is too long where they have no code for it: llama.cpp names a type, vLLM and
# others write a sentence, older ones find that nothing of the context is left for the answer.
_TOO_LONG_CODES = ("context_length_exceeded", "exceed_context_size_error")
_TOO_LONG = re.compile(r"context (length|size|window)|max_tokens must be at least 1, got -", re.IGNORECASE)


class ModelError(Exception):
    """Something went wrong with a request. `detail` holds no credential."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class StopError(ModelError):
    """No request will be answered as things are; the sentence says what to do."""


class PassingError(ModelError):
    """A passing error; reason: of `PrelabelFailure.Reason`; is_away: no model has seen the request."""

    def __init__(
        self,
        reason: str,
        detail: str,
        *,
        wait: float | None = None,
        may_be_paid: bool = False,
        is_away: bool = False,
    ) -> None:
        super().__init__(detail)
        self.reason = reason
        self.wait = wait  # seconds, as the server asks for
        self.may_be_paid = may_be_paid
        self.is_away = is_away


class UnanswerableError(ModelError):
    """This pair will get no answer. `reason` is one of `PrelabelFailure.Reason`."""

    def __init__(self, reason: str, detail: str, *, may_be_paid: bool = False) -> None:
        super().__init__(detail)
        self.reason = reason
        self.may_be_paid = may_be_paid


class NotTakenError(ModelError):
    """The server does not take a parameter; `dialect` is what to ask in instead."""

    def __init__(self, detail: str, dialect: Dialect) -> None:
        super().__init__(detail)
        self.dialect = dialect


class StoredDialect(TypedDict):
    """A `Dialect` as a pass keeps it."""

    format: str
    left_out: list[str]
    limit: str


@dataclass(frozen=True)
class Dialect:
    """Features that a server takes, as far as it has turned out; begins with everything."""

    format: str = FORMATS[0]
    left_out: tuple[str, ...] = ()
    limit: str = "max_tokens"  # newer servers call it max_completion_tokens

    def without(self, message: str) -> Dialect | None:
        """The dialect for a server that said this of a request; None if it names nothing to be dropped."""
        if re.search(r"response_format|json_schema|json_object", message):
            place = FORMATS.index(self.format) + 1
            return Dialect(FORMATS[place], self.left_out, self.limit) if place < len(FORMATS) else None
        if "max_completion_tokens" in message or "max_tokens" in message:
            if self.limit == "max_completion_tokens":
                return None
            return Dialect(self.format, self.left_out, "max_completion_tokens")
        named = next((name for name in _DROPPED if re.search(rf"\b{name}\b", message)), None)
        if named is None:
            return None
        gone = {"logprobs", "top_logprobs"} if "logprobs" in named else {named}
        left_out = tuple(sorted({*self.left_out, *gone}))
        return Dialect(self.format, left_out, self.limit) if left_out != self.left_out else None

    def to_dict(self) -> StoredDialect:
        """The dialect as plain data; `Dialect.from_dict` reads it."""
        return {"format": self.format, "left_out": list(self.left_out), "limit": self.limit}

    @staticmethod
    def from_dict(stored: StoredDialect | None) -> Dialect:
        """From `to_dict`, or the beginning for None."""
        if not stored:
            return Dialect()
        return Dialect(stored["format"], tuple(stored["left_out"]), stored["limit"])


@dataclass(frozen=True)
class Asking:
    model: str
    schema: Mapping[str, Any]
    max_tokens: int
    temperature: float = 0.0
    seed: int | None = None
    logprobs: bool = True

    def body(self, messages: Messages, dialect: Dialect) -> dict[str, Any]:
        wanted: dict[str, Any] = {"temperature": self.temperature, "seed": self.seed}
        if self.logprobs:
            wanted |= {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
        body = {"model": self.model, "messages": messages, dialect.limit: self.max_tokens}
        body |= {
            name: value
            for name, value in wanted.items()
            if value is not None and name not in dialect.left_out
        }
        if dialect.format == "json_schema":
            schema = {"name": "judgment", "strict": True, "schema": self.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif dialect.format == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body


@dataclass(frozen=True)
class Answer:
    """A model's answer, and the tokens that the server counts; None where it does not tell."""

    content: str
    finish_reason: str
    refusal: str
    input_tokens: int | None
    output_tokens: int | None
    tokens: Sequence[TokenChoice] = field(default=())


def answer_of(completion: Mapping[str, Any]) -> Answer:
    """The first choice of a chat completion, as servers write it."""
    try:
        choice = completion["choices"][0]
        message = choice.get("message") or {}
        usage = completion.get("usage") or {}
        return Answer(
            content=_text(message.get("content")),
            finish_reason=_text(choice.get("finish_reason")),
            refusal=_text(message.get("refusal")),
            input_tokens=_token_count(usage.get("prompt_tokens")),
            output_tokens=_token_count(usage.get("completion_tokens")),
            tokens=_tokens((choice.get("logprobs") or {}).get("content") or ()),
        )
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        problem = "The server did not return a chat completion."
        raise UnanswerableError("malformed", problem, may_be_paid=True) from None


def _text(value: Any) -> str:
    if not isinstance(value, str | None):
        raise TypeError
    return value or ""


def _token_count(value: Any) -> int | None:
    if value is None or (type(value) is int and 0 <= value <= MOST_TOKENS):
        return value
    problem = f"The server reported an invalid token count: {str(value)[:40]}."
    raise UnanswerableError("malformed", problem, may_be_paid=True)


def _tokens(tokens: Sequence[Mapping[str, Any]]) -> list[TokenChoice]:
    return [
        TokenChoice(
            _text(token["token"]),
            [(_text(one["token"]), float(one["logprob"])) for one in token.get("top_logprobs") or ()],
            bytes(list(token.get("bytes") or ())),
        )
        for token in tokens
    ]


class ModelClient:
    """A connection to a server of models; use it in `async with`, within one event loop."""

    def __init__(self, base_url: str, key: str | None, *, timeout: float) -> None:
        self._base_url, self._key, self._timeout = base_url, key, timeout

    async def __aenter__(self) -> ModelClient:
        from openai import AsyncOpenAI, DefaultAioHttpClient

        # Sends of the library's own would be neither counted nor within the budget.
        self._client: AsyncOpenAI = AsyncOpenAI(
            base_url=self._base_url,
            api_key=self._key or NO_KEY,
            max_retries=0,
            timeout=self._timeout,
            # Takes less than half of the processor that the usual one takes, with many requests at a time.
            http_client=DefaultAioHttpClient(
                follow_redirects=False, event_hooks={"response": [bound_answer]}
            ),
            default_headers=PLAIN,
        )
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._client.close()

    async def ask(self, asking: Asking, messages: Messages, dialect: Dialect) -> Answer:
        """Send one request; `ModelError` in one of its kinds for whatever is no answer."""
        body = asking.body(messages, dialect)
        # The library's own types of an answer cost more than all the rest of a request.
        completion = await self._call(
            self._client.post(COMPLETIONS, cast_to=object, body=body), asking, dialect
        )
        if not isinstance(completion, Mapping):
            raise UnanswerableError("malformed", "The server's response is not JSON.", may_be_paid=True)
        return self.answer_of(completion)

    def answer_of(self, completion: Mapping[str, Any]) -> Answer:
        """`answer_of`, without the key, should the server say it back: answers are kept and shown."""
        answer, key = answer_of(completion), self._key or ""
        if len(key) < SHORTEST_HIDDEN or key not in answer.content + answer.refusal:
            return answer
        hidden = {name: getattr(answer, name).replace(key, HIDDEN) for name in ("content", "refusal")}
        return replace(answer, **hidden)

    def problem(
        self, status: int, body: Any, model: str, dialect: Dialect, *, retry_after: str | None = None
    ) -> ModelError:
        """`read_problem` of this server, whose sentence does not hold the key."""
        endpoint = Endpoint(self._base_url, model, dialect, self._key)
        return read_problem(status, body, endpoint, retry_after=retry_after)

    async def _call(self, sent: Any, asking: Asking, dialect: Dialect) -> Any:
        """The answer of a request within the time-out, however slowly it drips in."""
        import openai

        try:
            async with asyncio.timeout(self._timeout):
                return await sent
        except TimeoutError:
            raise self._late() from None
        except RefusedAnswerError as error:
            raise UnanswerableError("malformed", str(error), may_be_paid=True) from None
        except openai.APIConnectionError as error:
            raise self._broken(error) from None
        except openai.APIStatusError as error:
            raise self._status_problem(error, asking, dialect) from None
        except (openai.APIResponseValidationError, ValueError):
            raise UnanswerableError(
                "malformed", "The server's response is not JSON.", may_be_paid=True
            ) from None
        except RecursionError:
            deep = "The server's JSON is nested too deeply."
            raise UnanswerableError("malformed", deep, may_be_paid=True) from None

    def _broken(self, error: BaseException) -> PassingError:
        """The error of a request without an answer, by the innermost of the errors that libraries wrap."""
        while (cause := error.__cause__ or error.__context__) is not None:
            error = cause
        why = redacted(f"{type(error).__name__}: {error}", self._key or "")[:MOST_DETAIL]
        if isinstance(error, TimeoutError):
            return self._late()
        never_sent = isinstance(error, ConnectionRefusedError | socket.gaierror)
        return PassingError("connection", why, may_be_paid=not never_sent, is_away=never_sent)

    def _late(self) -> PassingError:
        late = (
            f"No answer within {self._timeout:g} s. Send fewer requests at a time, or raise "
            "SOUNDINGS_LLM_TIMEOUT."
        )
        return PassingError("time_out", late, may_be_paid=True)

    def _status_problem(self, error: Any, asking: Asking, dialect: Dialect) -> ModelError:
        retry_after = error.response.headers.get("retry-after")
        return self.problem(error.status_code, error.body, asking.model, dialect, retry_after=retry_after)


@dataclass(frozen=True)
class Endpoint:
    """A model of a server, and the dialect that it takes; `key` is kept out of every sentence."""

    base_url: str
    model: str
    dialect: Dialect
    key: str | None = field(default=None, repr=False)


def read_problem(status: int, body: Any, endpoint: Endpoint, *, retry_after: str | None = None) -> ModelError:
    error = _error_in(body)
    message, detail, code, param = (_member(error, name) for name in ("message", "detail", "code", "param"))
    whole = redacted(" ".join((message or detail).split()), endpoint.key or "")
    sentence = whole[:MOST_DETAIL]
    if 300 <= status < 400:
        return StopError(f"{endpoint.base_url} redirects requests ({status}). Use its final address.")
    if status == 429 and code != "insufficient_quota":
        return PassingError("rate_limit", sentence or "Too many requests.", wait=seconds_to_wait(retry_after))
    is_too_long = code in _TOO_LONG_CODES or error.get("type") in _TOO_LONG_CODES
    # Before the names of parameters: such a sentence may name the limit of the answer as well.
    if status == 413 or is_too_long or (status in _REFUSING and _TOO_LONG.search(whole)):
        return UnanswerableError("too_long", sentence)
    if code == "content_filter" or "content_policy" in code:
        return UnanswerableError("filtered", sentence)
    if status in _REFUSING and (simpler := endpoint.dialect.without(f"{param} {whole}")):
        return NotTakenError(sentence, simpler)
    if status >= 500 or status in (408, 409, 425):
        detail = f"{status}: {sentence}" if sentence else str(status)
        return PassingError("server", detail, wait=seconds_to_wait(retry_after), is_away=status in _AWAY)
    return StopError(_stopped(status, sentence, endpoint.base_url, endpoint.model))


def _member(error: Mapping[str, Any], name: str) -> str:
    """A member of an error as a text; what is nested too deeply to be written says nothing."""
    try:
        return storable(str(error.get(name) or ""))
    except RecursionError:
        return ""


def _error_in(body: Any) -> Mapping[str, Any]:
    """The object of an error, whether a server wraps it, writes a sentence alone, or sends a page."""
    error = body.get("error", body) if isinstance(body, Mapping) else body
    if isinstance(error, Mapping):
        return error
    is_sentence = isinstance(error, str) and not error.lstrip().startswith("<")
    return {"message": error} if is_sentence else {}


def _stopped(status: int, sentence: str, base_url: str, model: str) -> str:
    if status == 401:
        why = "does not accept the key. Save a valid key, or set SOUNDINGS_OPENAI_API_KEY"
    elif status == 403:
        why = "does not allow this request with this key"
    elif status == 404:
        why = f"has no model “{model}”, or does not speak this protocol"
    elif status == 429:
        why = "reports that the account has no credit left"
    else:
        why = f"refuses the request ({status})"
    return f"{base_url} {why}. It said: “{sentence}”" if sentence else f"{base_url} {why}."
