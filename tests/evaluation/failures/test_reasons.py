"""From a report to the reason of a label in a click."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client

from evaluation.models import Report
from tests.evaluation.cast import make_report
from tests.world import World

pytestmark = pytest.mark.anywhere


def test_the_pairs_of_a_pool_lead_to_the_reasons_of_their_labels(world: World, client: Client) -> None:
    pool = world.build_pool()
    make_report(world)
    client.force_login(world.vera)
    shown = client.get(f"/collections/harbour/pools/{pool.pk}/pairs/?query=q1").content.decode()
    found = re.findall(r'href="(/collections/harbour/labels/\?query=q1[^"]+)"', shown)
    assert len(found) == 2
    assert "It was labelled from an imported file" in client.get(unescape(found[0])).content.decode()


@pytest.mark.parametrize(
    "page", ["detail/?query=q1&a=alpha&b=beta&k=2", "?run=beta&k=1"], ids=["side by side", "query by query"]
)
def test_a_label_in_a_report_leads_to_its_reason(
    world: World, report: Report, client: Client, page: str
) -> None:
    client.force_login(world.vera)
    shown = client.get(f"/reports/{report.pk}/queries/{page}").content.decode()
    found = re.search(r'href="(/collections/harbour/labels/\?query=q[^"]+)"', shown)
    assert found
    assert "It was labelled from an imported file" in client.get(unescape(found[1])).content.decode()
