from __future__ import annotations

from collections.abc import Callable

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from pooling.heavy import alt
from pooling.interface.charting import in_look, to_svg


def kept_svg(stem: str, variant: str, draw: Callable[[bool], alt.LayerChart]) -> bytes:
    """The picture as SVG in one of `pooling.interface.charting.VARIANTS`. It is drawn once for a stem, which
    tells all that the picture depends on, by a function of whether it is narrow."""
    is_narrow = variant.endswith("narrow")
    name = f"{stem}{'-narrow' * is_narrow}.svg"
    if default_storage.exists(name):
        with default_storage.open(name, "rb") as file:
            return in_look(file.read(), variant)
    picture = to_svg(draw(is_narrow))
    default_storage.save(name, ContentFile(picture))
    return in_look(picture, variant)
