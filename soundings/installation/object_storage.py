"""Object storage with waits that a request can bear; loaded only where it is chosen."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeVar

from boto3.exceptions import Boto3Error
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from storages.backends.s3 import S3Storage

from pooling.interface.problems import StorageAwayError

logger = logging.getLogger(__name__)
Answer = TypeVar("Answer")

# One answer of the store, and how often it is asked: half a minute at the most while it is away.
CONNECT_SECONDS, READ_SECONDS, ATTEMPTS = 3, 30, 3


class ObjectStorage(S3Storage):  # type: ignore[misc]  # untyped
    """Files in a bucket, under unique names; keys come from the environment or from the machine's role."""

    def __init__(self, **options: Any) -> None:
        waits = Config(
            connect_timeout=CONNECT_SECONDS,
            read_timeout=READ_SECONDS,
            retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
            s3={"addressing_style": options.get("addressing_style", "auto")},
            # Servers other than Amazon's know no other checksums than they have always had.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )
        super().__init__(**{"client_config": waits} | options)

    def _open(self, name: str, mode: str = "rb") -> Any:
        return _patient_answer(lambda: self._fetched(name, mode))

    def _fetched(self, name: str, mode: str) -> Any:
        file = super()._open(name, mode)
        file.file  # noqa: B018  fetched now: what goes wrong later would not be named as such
        return file

    def _save(self, name: str, content: Any) -> str:
        return _patient_answer(lambda: str(super(ObjectStorage, self)._save(name, content)))

    def delete(self, name: str) -> None:
        """Remove a file; one that is not there is no error."""
        _patient_answer(lambda: super(ObjectStorage, self).delete(name))

    def exists(self, name: str) -> bool:
        return _patient_answer(lambda: bool(super(ObjectStorage, self).exists(name)))

    def listdir(self, path: str) -> Any:
        return _patient_answer(lambda: super(ObjectStorage, self).listdir(path))


def _patient_answer(ask: Callable[[], Answer]) -> Answer:
    try:
        return ask()
    except (Boto3Error, BotoCoreError, ClientError) as error:
        logger.warning("the file storage does not answer: %s", error)
        raise StorageAwayError from error
