"""The curve of a report as a picture: what it holds, in which colours, and that nothing is fetched for it."""

from __future__ import annotations

import json
from itertools import pairwise

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.charts import drawing as charts
from evaluation.charts.line_ends import pushed_apart

pytestmark = pytest.mark.anywhere

PNG = b"\x89PNG\r\n\x1a\n"


def make_curve(*runs: str) -> pd.DataFrame:
    rows = [(run, k, 0.1 * k, 0.1 * k - 0.05, 0.1 * k + 0.05) for run in runs for k in (1, 3, 5)]
    return pd.DataFrame(rows, columns=["run", "k", "mean", "low", "high"])


def test_the_svg_names_every_run() -> None:
    svg = charts.to_svg(charts.recall_curve(make_curve("BM25", "dense & <odd>"))).decode()
    assert svg.startswith("<svg")
    assert ">BM25</text>" in svg
    assert ">dense &amp; &lt;odd&gt;</text>" in svg


@pytest.mark.slow
def test_a_picture_may_have_a_point_for_each_run_and_query() -> None:
    many = charts.recall_curve(make_curve(*(f"run {number}" for number in range(1_700))))
    assert len(many.to_dict()["datasets"]) > 0


def test_the_png_is_one() -> None:
    assert charts.to_png(charts.recall_curve(make_curve("BM25"))).startswith(PNG)


@pytest.mark.parametrize(("dark", "theme"), [(False, charts.LIGHT), (True, charts.DARK)])
def test_light_and_dark_have_their_own_colours(dark: bool, theme: charts.Theme) -> None:
    svg = charts.to_svg(charts.recall_curve(make_curve("a", "b"), dark=dark)).decode()
    assert theme.background in svg
    assert theme.runs[0] in svg
    assert theme.runs[1] in svg


def test_no_two_of_fifty_runs_look_alike() -> None:
    names = [f"run {number}" for number in range(50)]
    found = json.dumps(charts.recall_curve(make_curve(*names)).to_dict())
    scales = _scales(json.loads(found))
    looks = set(zip(scales["color"], map(tuple, scales["strokeDash"]), strict=True))
    assert len(looks) == 50
    assert len(set(scales["color"])) == 8


def _scales(specification: dict) -> dict[str, list]:
    encodings = [layer["encoding"] for layer in specification["layer"]]
    return {
        channel: encoding[channel]["scale"]["range"]
        for encoding in encodings
        for channel in ("color", "strokeDash")
        if channel in encoding
    }


@pytest.mark.parametrize("theme", [charts.LIGHT, charts.DARK], ids=["light", "dark"])
def test_every_colour_stands_out_from_its_background(theme: charts.Theme) -> None:
    ground = _luminance(theme.background)
    for colour in (*theme.runs, theme.ink, theme.quiet):
        low, high = sorted((ground, _luminance(colour)))
        assert (high + 0.05) / (low + 0.05) >= 3, colour


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_a_run_without_interval_is_drawn_all_the_same() -> None:
    curve = make_curve("lonely").assign(low=float("nan"), high=float("nan"))
    assert ">lonely</text>" in charts.to_svg(charts.recall_curve(curve)).decode()


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize(("runs", "cutoffs"), [(2, 3), (12, 3), (2, 1)])
def test_the_size_of_a_picture_is_known_before_it_is_drawn(runs: int, cutoffs: int, narrow: bool) -> None:
    curve = make_curve(*(f"run {number}" for number in range(runs)))
    chosen = curve[curve["k"].isin([1, 3, 5][:cutoffs])]
    svg = charts.to_svg(charts.recall_curve(chosen, narrow=narrow)).decode()
    width, height = charts.picture_size(runs, cutoffs, narrow=narrow, legend=runs > 8)
    assert f'width="{width}" height="{height}"' in svg


def test_a_single_k_is_drawn_as_one_row_per_run() -> None:
    curve = make_curve("a", "b")
    specification = charts.recall_curve(curve[curve["k"] == 3], title="Recall@3").to_dict()
    assert {layer["encoding"]["y"]["field"] for layer in specification["layer"]} == {"run"}
    svg = charts.to_svg(charts.recall_curve(curve[curve["k"] == 3], title="Recall@3")).decode()
    assert all(f">{words}</text>" in svg for words in ("a", "b", "Recall@3"))


def test_the_specification_loads_nothing_from_elsewhere() -> None:
    text = json.dumps(charts.recall_curve(make_curve("a")).to_dict()["layer"])
    assert "http" not in text


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("cutoffs", [[1, 3, 5], [3]])
def test_bounds_are_drawn_within_the_picture_and_named(cutoffs: list[int], narrow: bool) -> None:
    curve = make_curve("a", "b")
    curve = curve[curve["k"].isin(cutoffs)].assign(lower_bound=0.02, upper_bound=0.83)
    svg = charts.to_svg(charts.recall_curve(curve, narrow=narrow)).decode()
    width, height = charts.picture_size(2, len(cutoffs), narrow=narrow, bounds=True, legend=False)
    assert f'width="{width}" height="{height}"' in svg
    assert all(f">{words}</text>" in svg for words in (charts.INTERVAL, charts.BOUNDS))
    assert ">0.9</text>" in svg or ">0.8</text>" in svg  # the axis reaches as far as they do


def test_bounds_that_leave_nothing_open_are_not_drawn() -> None:
    judged = make_curve("a").assign(lower_bound=0.1, upper_bound=0.1)
    drawn, plain = (charts.recall_curve(curve).to_dict()["layer"] for curve in (judged, make_curve("a")))
    assert [layer["encoding"] for layer in drawn] == [layer["encoding"] for layer in plain]


@pytest.mark.parametrize(
    ("heights", "placed"),
    [
        ([0.2, 0.9], [0.2, 0.9]),  # far apart: where they were
        ([0.5, 0.5], [0.45, 0.55]),
        ([0.99, 1.0, 0.1], [0.9, 1.0, 0.1]),  # not above the axis
        ([0.3, 0.3, 0.45], [0.25, 0.35, 0.45]),  # a group of two that reaches the third
        ([], []),
    ],
)
def test_names_at_line_ends_are_pushed_apart_in_order(heights: list[float], placed: list[float]) -> None:
    found = pushed_apart(heights, 0.1, low=0, high=1)
    assert found == pytest.approx(placed)


@given(st.lists(st.floats(0, 1), max_size=10))
def test_names_never_overlap_nor_leave_the_axis(heights: list[float]) -> None:
    placed = pushed_apart(heights, 0.1, low=0, high=1)
    order = sorted(range(len(heights)), key=heights.__getitem__)
    gaps = [placed[after] - placed[before] for before, after in pairwise(order)]
    assert all(gap >= 0.1 - 1e-9 for gap in gaps)
    assert all(-1e-9 <= place <= 1 + 1e-9 for place in placed)


def test_runs_are_named_at_their_lines_and_in_a_legend_where_that_is_not_enough() -> None:
    few = charts.to_svg(charts.recall_curve(make_curve("a", "b"))).decode()
    assert few.count(">a</text>") == 1
    long = charts.to_svg(charts.recall_curve(make_curve("some name too long for a phone"), narrow=True))
    assert "role-legend" in long.decode()
    assert "role-legend" not in few
    names = [f"run {number}" for number in range(12)]
    many = charts.to_svg(charts.recall_curve(make_curve(*names))).decode()
    assert [many.count(f">{name}</text>") for name in names] == [2] * 8 + [1] * 4
