"""The picture of the rooms and their tables are those of the code."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from django.test import Client

from docs import draw_map
from docs.rooms import PACKAGES, place_of, rooms_of

SVG = "{http://www.w3.org/2000/svg}"


def test_the_picture_and_the_tables_are_what_make_map_writes() -> None:
    assert draw_map.PICTURE.read_text(encoding="utf-8") == draw_map.picture(), "Run make map."
    page = draw_map.PAGE.read_text(encoding="utf-8")
    assert page == draw_map.with_tables(page), "Run make map."


def test_the_picture_shows_every_room_once_and_every_arrow_leads_down() -> None:
    drawn = ElementTree.fromstring(draw_map.picture())
    rooms = [room.name for package in PACKAGES for room in rooms_of(package)]
    assert sorted(text.text or "" for text in drawn.iterfind(f".//{SVG}g/{SVG}text")) == sorted(rooms)
    paths = [path.attrib["d"] for path in drawn.iterfind(f"{SVG}path")]
    assert len(paths) == len(draw_map.arrows())
    for path in paths:
        start, end = re.match(r"M[\d.]+ (\d+)", path), re.search(r"(\d+)$", path)
        assert start
        assert end
        assert int(start[1]) < int(end[1])


def test_an_arrow_that_leads_over_another_room_is_left_out() -> None:
    arrows = draw_map.arrows()
    storage, jobs, people = (place_of(f"pooling/{room}/x.py") for room in ("storage", "jobs", "people"))

    assert (storage, jobs) in arrows
    assert (jobs, people) in arrows
    assert (storage, people) not in arrows


def test_boxes_of_a_layer_do_not_overlap() -> None:
    layers, _ = draw_map.layers_of(draw_map.arrows())
    draw_map.arrange(layers)

    for layer in layers:
        for left, right in pairwise(layer):
            assert right.x - left.x >= (left.width + right.width) / 2 + draw_map.GAP - 1e-9


@pytest.mark.django_db
def test_the_guide_shows_the_picture(client: Client) -> None:
    page = client.get("/guide/architecture/").content.decode()

    assert '<img src="../../static/map.svg" alt="The rooms of the four packages' in page
