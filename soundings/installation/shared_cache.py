"""A cache in Redis that may be away: then everything is computed, and nothing fails."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeVar

from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

Value = TypeVar("Value")


class SharedCache(RedisCache):
    """Django's own cache in Redis; what cannot be asked is not there, what cannot be kept is not kept."""

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        """The value under a key; `default` where there is none, or no Redis."""
        return _or(default, lambda: super(SharedCache, self).get(key, default, version))

    def set(self, key: Any, value: Any, timeout: Any = ..., version: int | None = None) -> None:
        kept = {} if timeout is ... else {"timeout": timeout}
        _or(None, lambda: super(SharedCache, self).set(key, value, version=version, **kept))

    def add(self, key: Any, value: Any, timeout: Any = ..., version: int | None = None) -> bool:
        """Keep a value where there is none yet; whether it was kept."""
        kept = {} if timeout is ... else {"timeout": timeout}
        return _or(False, lambda: super(SharedCache, self).add(key, value, version=version, **kept))

    def incr(self, key: Any, delta: int = 1, version: int | None = None) -> int:
        """The number under a key, one more; `ValueError` where there is none, or no Redis."""
        number = _or(None, lambda: super(SharedCache, self).incr(key, delta, version))
        if number is None:
            raise ValueError(f"There is no number under {key}.")
        return number

    def delete(self, key: Any, version: int | None = None) -> bool:
        return _or(False, lambda: super(SharedCache, self).delete(key, version))


def _or(instead: Value, ask: Callable[[], Value]) -> Value:
    try:
        return ask()
    except RedisError as error:
        logger.warning("the cache does not answer: %s", type(error).__name__)
        return instead
