"""A report as PDF: what it says, in letters that can be selected."""

from __future__ import annotations

import re
import zlib
from base64 import a85decode
from contextlib import suppress
from dataclasses import replace

import pytest
from django.test import Client
from django.urls import reverse

from evaluation.charts import pdf_report
from evaluation.models import Report
from evaluation.reports.export import content_of, pdf_of
from tests.evaluation.cast import make_report
from tests.world import World

pytestmark = pytest.mark.anywhere


def streams(content: bytes) -> bytes:
    """The unpacked drawing commands and tables of letters of a PDF."""
    unpacked = []
    for stream in re.findall(rb"stream\r?\n(.*?)endstream", content, re.DOTALL):
        packed = stream.strip()
        if packed.endswith(b"~>"):
            packed = a85decode(b"<~" + packed, adobe=True)
        with suppress(zlib.error):
            unpacked.append(zlib.decompress(packed))
    return b"\n".join(unpacked)


def test_a_viewer_downloads_a_report_as_pdf(world: World, report: Report, client: Client) -> None:
    address = reverse("report_download", args=[report.pk, "report-pdf"])
    client.force_login(world.vera)
    answer = client.get(address)
    assert answer["Content-Type"] == "application/pdf"
    assert b"".join(answer).startswith(b"%PDF-")  # type: ignore[arg-type]


def test_its_text_can_be_selected(report: Report) -> None:
    commands = streams(pdf_of(report))
    # Letters are drawn as text in a font with a table from its glyphs to Unicode, not as outlines.
    assert b" Tj" in commands
    assert b"beginbfchar" in commands or b"beginbfrange" in commands


def test_the_same_report_gives_the_same_bytes(report: Report) -> None:
    assert pdf_of(report) == pdf_of(report)


def test_names_that_no_font_has_and_names_like_markup_are_printed_all_the_same(report: Report) -> None:
    content = replace(content_of(report), title="<b>夜行バス & ↓", sentences=["</para>"])
    assert pdf_report.render_pdf(content).startswith(b"%PDF-")


def test_without_fonts_of_the_machine_the_narrower_one_is_used(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pdf_report, "FONTS", (("NoSuchFont", "NoSuchFont"), ("Vera", "VeraBd")))
    assert b"BitstreamVera" in pdf_of(make_report(world))
