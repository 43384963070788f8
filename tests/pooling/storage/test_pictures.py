"""Pictures that are drawn once and then kept."""

from __future__ import annotations

import altair as alt
import pandas as pd

from pooling.storage.pictures import kept_svg


def test_a_picture_is_drawn_once_for_a_name() -> None:
    drawn = []

    def draw(mark: str) -> alt.LayerChart:
        drawn.append(mark)
        return alt.layer(alt.Chart(pd.DataFrame({"x": [1, 2]})).mark_point().encode(x="x"))

    first = kept_svg("pictures/one.svg", lambda: draw("one"))
    again = kept_svg("pictures/one.svg", lambda: draw("one again"))
    kept_svg("pictures/two.svg", lambda: draw("two"))

    assert drawn == ["one", "two"]
    assert first == again
    assert first.startswith(b"<svg")
