"""The report as one HTML file, from the site and from the command: whole by itself, and names are text;
beside it the bundle, and the provenance in every export."""

from __future__ import annotations

import io
import json
import re
import shlex
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from evaluation.charts.stored import kinds_of
from evaluation.models import Report
from evaluation.report_store.provenance import command_of
from evaluation.reports.export import html_of, provenance_of
from evaluation.scoring.config import Settings
from labeling.qrels.downloads import export_file
from tests.evaluation.cast import make_report
from tests.evaluation.comparisons.test_report_comparisons import audited_pool
from tests.world import ALPHA, BETA, World, qrels_text, run_text

pytestmark = pytest.mark.anywhere

NAMESPACES = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


class Tags(HTMLParser):
    """Every start tag with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, Any]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def check_it_is_whole_by_itself(text: str) -> None:
    """Nothing to fetch, nothing to run, and no id twice."""
    assert text.startswith("<!doctype html>")
    assert set(re.findall(r"https?://[^\s\"'<)]+", text)) <= NAMESPACES
    tags = Tags(text).found
    assert not {"script", "link", "img", "iframe", "object", "embed", "base", "form"} & {
        tag for tag, _ in tags
    }
    names = {name for _, attributes in tags for name in attributes}
    assert not {name for name in names if name.startswith("on")} | names & {"src", "srcset", "href", "nonce"}
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert all(
        f"#{wanted}" in {f"#{known}" for known in ids} for wanted in re.findall(r"url\(#([^)]+)\)", text)
    )


def test_the_sites_file_is_whole_by_itself_and_says_where_it_comes_from(
    world: World, report: Report, client: Client
) -> None:
    client.force_login(world.vera)
    answer = client.get(reverse("report_download", args=[report.pk, "html"]))
    text = b"".join(answer).decode()
    check_it_is_whole_by_itself(text)
    assert text.count("<svg ") == 2 * len(kinds_of(report))  # light and dark
    for run in report.options["runs"]:
        assert run["sha256"] in text
    assert report.options["release"]["sha256"] in text
    assert "seed 0" in text
    assert "3 of 3 queries · missing = 0 · rel ≥ 1" in text


def test_names_from_outside_are_text(world: World) -> None:
    world.import_runs()
    world.collection.runs.filter(name="alpha").update(name="<script>alert(1)</script>&amp;\"'")
    world.collection.name = "<b>bold</b>"
    world.collection.save()
    text = html_of(make_report(world)).decode()
    check_it_is_whole_by_itself(text)
    assert "<b>bold" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;" in text


def write_files(folder: Path) -> tuple[Path, list[Path]]:
    qrels, runs = folder / "labels.txt", [folder / "alpha.run", folder / "beta.run"]
    qrels.write_text(qrels_text())
    for path, ranking in zip(runs, (ALPHA, BETA), strict=True):
        path.write_text(run_text(ranking))
    return qrels, runs


def test_the_command_writes_such_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qrels, runs = write_files(tmp_path)
    call_command(
        "evaluate", str(qrels), *map(str, runs), "--html", str(tmp_path / "report.html"), "--seed", "7"
    )
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    check_it_is_whole_by_itself(text)
    assert "--seed 7" in text
    assert "alpha" in capsys.readouterr().out


POWERED_ONE = {
    "human": {"value": 0.5, "low": 0.3, "high": 0.7},
    "powered": {"value": 0.52, "low": 0.37, "high": 0.67},
    "weight": 0.6,
    "narrower": 0.25,
    "why": "",
}
DOUBTED = {**POWERED_ONE, "powered": POWERED_ONE["human"], "weight": 0.0, "narrower": 0.0, "why": "it <errs>"}


def test_files_hold_the_estimates_by_people_and_with_a_model(world: World, client: Client) -> None:
    audited_pool(world)
    report = make_report(world)
    estimates = report.result["estimates"]
    assert estimates["status"] == "estimated"
    plain = html_of(report).decode()
    check_it_is_whole_by_itself(plain)
    micro = estimates["runs"]["alpha"]["recall@3"]["micro"]
    assert f"{micro['value']:.3f} [{micro['low']:.3f}, {micro['high']:.3f}]" in plain
    assert estimates["sentence"] in plain
    assert "Prediction-powered" not in plain
    client.force_login(world.vera)
    for form in ("markdown", "latex"):
        text = b"".join(client.get(reverse("report_download", args=[report.pk, form]))).decode()
        assert "Estimated from the audit" in text, form

    counts = {"human": {"value": 9, "low": 7, "high": 14}, "powered": {"value": 9, "low": 8, "high": 12}}
    at_3 = {
        "recall@3": {"micro": POWERED_ONE, "macro": DOUBTED},
        "precision@3": {"micro": DOUBTED, "macro": DOUBTED},
    }
    estimates["prediction_powered"] = {
        "prelabeler": {"id": 1, "name": "<small> model", "model": "small"},
        "predicted": 0.98,
        "relevant": {**counts, "weight": 0.5, "narrower": 0.4, "why": ""},
        "runs": {"alpha": at_3},
    }
    text = html_of(report).decode()
    check_it_is_whole_by_itself(text)
    assert "from &lt;small&gt; model, which has scores for 98 % of the uncertain pairs" in text
    assert "by people 9 [7, 14]; with the model 9 [8, 12]." in text
    row = [
        "3",
        "0.500 [0.300, 0.700]",
        "0.520 [0.370, 0.670], 25 % narrower",
        "0.500 [0.300, 0.700]",
        "the same",
    ]
    cells = "".join(f'<td class="number">{cell}</td>' for cell in row)
    assert f'<th scope="row">alpha</th>{cells}' in re.sub(r">\s+<", "><", text)
    assert "Where both are the same: it &lt;errs&gt;." in text


@pytest.mark.parametrize(
    ("name", "sentence"), [("report.txt", "ends in none of .html"), ("no/report.html", "There is no folder")]
)
def test_the_command_says_before_the_work_that_it_cannot_write(
    tmp_path: Path, name: str, sentence: str
) -> None:
    qrels, runs = write_files(tmp_path)
    with pytest.raises((CommandError, ValueError), match=sentence):
        call_command("evaluate", str(qrels), str(runs[0]), "--html", str(tmp_path / name))


def test_the_command_that_a_report_names_prints_its_figures(
    report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = shlex.split(provenance_of(report).command)
    export_file(report.release, tmp_path / command[2])
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    call_command(command[1], *command[2:], "--format", "json")
    assert json.loads(capsys.readouterr().out)["runs"] == report.result["runs"]


def test_a_command_quotes_what_a_shell_would_read() -> None:
    line = command_of(Settings(k=(1,), measures=("map@10",)), "a;b.txt", ["$(x).run"])
    assert line == "soundings evaluate 'a;b.txt' '$(x).run' --k 1 --measure map@10"


def test_every_table_but_csv_says_where_it_comes_from(world: World, report: Report, client: Client) -> None:
    client.force_login(world.vera)
    for form in ("markdown", "latex", "json"):
        text = b"".join(client.get(reverse("report_download", args=[report.pk, form]))).decode()
        assert report.options["runs"][0]["sha256"] in text, form
        assert "soundings evaluate" in text, form


def test_the_bundle_holds_tables_pictures_their_data_and_the_html_file(
    world: World, report: Report, client: Client
) -> None:
    client.force_login(world.vera)
    content = b"".join(client.get(reverse("report_download", args=[report.pk, "bundle"])))
    with zipfile.ZipFile(io.BytesIO(content)) as bundle:
        names = {name.partition("/")[2] for name in bundle.namelist()}
        tables = {"report.csv", "report.json", "report.md", "report.tex", "report.html"}
        assert names == tables | {"settings.toml", "provenance.json"} | {
            f"{name}.{form}" for name in kinds_of(report) for form in ("svg", "csv")
        }
        assert bundle.testzip() is None


def test_the_curve_is_there_as_pdf(world: World, report: Report, client: Client) -> None:
    client.force_login(world.vera)
    address = reverse("report_download", args=[report.pk, "pdf"])
    assert b"".join(client.get(address)).startswith(b"%PDF-")
