"""Files that people send, bounded while they arrive."""

from __future__ import annotations

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler, SkipFile
from django.http import HttpRequest

from pooling.interface.problems import InputError


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


def refuse_oversized(request: HttpRequest) -> None:
    """`InputError` when a file of this request was dropped for its size; to be called before it is missed."""
    _ = request.FILES  # reads the body
    if getattr(request, "upload_refused", False):
        bound = f"{settings.MAX_UPLOAD_BYTES:,}"
        problem = f"The file is larger than {bound} bytes. Split it, or raise SOUNDINGS_MAX_UPLOAD_BYTES."
        raise InputError(problem, field="file")
