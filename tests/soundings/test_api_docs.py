"""The description of the HTTP interface."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.test import Client


@pytest.mark.django_db
def test_the_page_for_people_needs_no_inline_script_or_style(client: Client) -> None:
    page = client.get("/api/docs/").content.decode()
    assert "HTTP interface" in page
    assert "<style" not in page
    assert "<script>" not in page
    assert 'src="http' not in page


def test_the_schema_is_complete_and_free_of_warnings(tmp_path: object) -> None:
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", f"{tmp_path}/schema.yaml")
