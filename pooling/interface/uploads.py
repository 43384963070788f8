"""Files that people send, bounded: each while it arrives, and how many an account may send in an hour."""

from __future__ import annotations

import math
from http import HTTPStatus

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.core.files.uploadhandler import FileUploadHandler, SkipFile
from django.http import HttpRequest

from pooling.formats.wording import plural
from pooling.interface.counting import counted
from pooling.interface.problems import InputError

HOUR = 3600


class BoundedUpload(FileUploadHandler):
    """Stands first among the upload handlers and drops a file as soon as it is larger than allowed."""

    def new_file(self, *args: object, **kwargs: object) -> None:
        super().new_file(*args, **kwargs)  # type: ignore[arg-type]
        self.received = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        self.received += len(raw_data)
        if self.received > settings.MAX_UPLOAD_BYTES:
            self.request.upload_refused = True  # type: ignore[union-attr]
            raise SkipFile
        return raw_data

    def file_complete(self, file_size: int) -> None:
        return None


class TooManyUploadsError(InputError):
    def __init__(self, wait: int) -> None:
        most, minutes = settings.UPLOADS_PER_HOUR, math.ceil(wait / 60)
        super().__init__(
            f"You have sent all the files that an account may send in an hour ({most:,}). Nothing was "
            f"imported. Try again in {minutes} {plural(minutes, 'minute')}.",
            field="file",
        )
        self.wait = wait  # becomes Retry-After

    @property
    def status(self) -> HTTPStatus:
        return HTTPStatus.TOO_MANY_REQUESTS


def uploads_of(user: User | AnonymousUser) -> str:
    return f"uploads/{user.pk}"


def refuse_uploads(request: HttpRequest) -> None:
    """`InputError` where files were dropped or too many sent; to be called before a dropped one is missed."""
    files = sum(len(of_a_name) for _, of_a_name in request.FILES.lists())  # reads the body
    if files and settings.UPLOADS_PER_HOUR:
        count = counted(uploads_of(request.user), HOUR, files)
        if count.number > settings.UPLOADS_PER_HOUR:
            raise TooManyUploadsError(count.wait)
    if getattr(request, "upload_refused", False):
        bound = f"{settings.MAX_UPLOAD_BYTES:,}"
        problem = f"The file is larger than {bound} bytes. Split it, or raise SOUNDINGS_MAX_UPLOAD_BYTES."
        raise InputError(problem, field="file")
