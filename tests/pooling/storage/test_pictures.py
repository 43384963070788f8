"""Pictures that are drawn once and then kept."""

from __future__ import annotations

import altair as alt
import pandas as pd

from pooling.interface.charting import DARK, LIGHT
from pooling.storage.pictures import kept_svg


def test_a_picture_is_drawn_once_for_both_looks_and_again_where_it_is_narrow() -> None:
    drawn = []

    def draw(is_narrow: bool) -> alt.LayerChart:
        drawn.append(is_narrow)
        return alt.layer(alt.Chart(pd.DataFrame({"x": [1, 2]})).mark_point(color=LIGHT.ink).encode(x="x"))

    first, again, dark = (kept_svg("pictures/one", look, draw) for look in ("light", "light", "dark"))
    narrow = kept_svg("pictures/one", "dark-narrow", draw)
    other = kept_svg("pictures/two", "light", draw)

    assert drawn == [False, True, False]
    assert first == again == other
    assert LIGHT.ink.encode() in first
    assert dark == narrow == first.replace(LIGHT.ink.encode(), DARK.ink.encode())
