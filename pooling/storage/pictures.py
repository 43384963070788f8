from __future__ import annotations

from collections.abc import Callable

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from pooling.heavy import alt
from pooling.interface.charting import to_svg


def kept_svg(name: str, draw: Callable[[], alt.LayerChart]) -> bytes:
    """The picture as SVG, drawn once for a name, which tells all that the picture depends on."""
    if default_storage.exists(name):
        with default_storage.open(name, "rb") as file:
            return bytes(file.read())
    picture = to_svg(draw())
    default_storage.save(name, ContentFile(picture))
    return picture
