"""`prelabel` and `export_prelabels`, and a pass that is killed in the middle."""

from __future__ import annotations

import io
import signal
import time
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import Sum
from pytest_django import Settings

from labeling.models import PrelabelJob, Queue
from labeling.prelabel_jobs import PassOptions, run_here
from labeling.prelabel_options import prelabeler_for
from labeling.queues import open_queue
from pooling.models import Document
from tests.labeling.helpers import make_pool, make_queue
from tests.labeling.model_server import ModelServer
from tests.soundings.processes import start
from tests.world import World


@pytest.fixture
def server(server: ModelServer, settings: Settings) -> ModelServer:
    settings.LLM_PRICES = ["small=10/100"]
    return server


@pytest.fixture
def queue(world: World) -> Queue:
    return make_queue(world, name="first")


def run(command: str, *arguments: str) -> str:
    out = io.StringIO()
    call_command(command, "harbour", "first", "--model", "small", *arguments, stdout=out)
    return out.getvalue()


@pytest.mark.django_db
def test_a_dry_run_asks_nothing_and_a_sample_makes_it_narrow(queue: Queue, server: ModelServer) -> None:
    by_texts = run("prelabel", "--dry-run")
    assert server.requests == []
    assert "6 to ask" in by_texts
    assert "rests on the length" in by_texts
    other = Document.objects.get(external_id="d1")
    Document.objects.filter(external_id="d2").update(title=other.title, text=other.text)
    assert "3 known from equal texts, 0 failed, 0 without a text, 3 to ask" in run("prelabel", "--dry-run")
    Document.objects.filter(external_id="d2").update(text="Something else.")
    by_answers = run("prelabel", "--sample")
    assert "0 to ask" in by_answers
    assert "rests on the tokens of 6 answers" in by_answers
    assert len(server.requests) == 6


@pytest.mark.django_db
def test_a_pass_tells_what_it_did_and_its_file_says_that_no_person_said_it(
    queue: Queue, server: ModelServer, tmp_path: Path
) -> None:
    told = run("prelabel", "--budget", "1", "--concurrency", "2")
    assert "6 asked, 0 known, 0 failed, of 6 pairs; 6 requests, 600 tokens read and 120 written" in told
    assert "0.0180 USD" in told
    path = tmp_path / "model.csv"
    run("export_prelabels", "--output", str(path))
    head, first, *rest = path.read_text().splitlines()
    assert head == "query_id,document_id,relevance,source,score,grade"
    assert first.startswith("q1,d1,1,llm:small:binary-v1:")
    assert len(rest) == 5
    run("export_prelabels", "--format", "trec", "--output", str(path))
    query, source, document, relevance = path.read_text().splitlines()[0].split(" ")
    assert (query, source.split(":")[0], document, relevance) == ("q1", "llm", "d1", "1")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--budget", "much"), "no amount"),
        (("--price", "5"), "no price"),
        (("--base-url", "https://api.openai.com/v1"), "Everything but pre-labels works without"),
    ],
)
def test_what_will_not_do_is_one_line(
    queue: Queue, server: ModelServer, arguments: tuple[str, ...], said: str
) -> None:
    with pytest.raises(CommandError, match=said) as refused:
        run("prelabel", *arguments)
    assert refused.value.returncode == 2
    assert server.requests == []


@pytest.mark.django_db
def test_a_pass_that_the_server_stops_is_an_error_of_the_command(queue: Queue, server: ModelServer) -> None:
    server.model = "another"
    with pytest.raises(CommandError, match="knows no model “small”"):
        run("prelabel")
    with pytest.raises(CommandError, match="There are no pre-labels"):
        run("export_prelabels", "--output", "nowhere.csv")
    assert PrelabelJob.objects.get().state == "failed"


@pytest.mark.django_db(transaction=True)
def test_a_kill_in_the_middle_loses_no_answer_and_pays_none_twice(
    world: World, server: ModelServer, settings: Settings, tmp_path: Path
) -> None:
    """Thirty pairs, four at a time: killed when about half are sent, then gone on with."""
    for number in range(10):
        Document.objects.create(collection=world.collection, external_id=f"a{number}", text=f"{number} buses")
    pool = make_pool(world, queries=3, documents=10)
    queue = open_queue(pool, name="first", seed=1)
    server.latency = 0.15
    settings.LLM_JOURNAL_DIR = tmp_path / "prelabels"
    asking = ("prelabel", "harbour", "first", "--model", "small", "--concurrency", "4", "--budget", "9")
    variables = {"DATABASE_URL": url_of_test_database(), "SOUNDINGS_LLM_SERVERS": server.base_url}
    first = start(tmp_path, *asking, **variables, SOUNDINGS_LLM_PRICES="small=10/100")
    deadline = time.monotonic() + 60
    while len(server.requests) < 15 and first.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    first.send_signal(signal.SIGKILL)
    output, _ = first.communicate()
    sent = len(server.requests)
    assert 15 <= sent < 30, output
    prelabeler = prelabeler_for(queue.collection, "small")
    job = run_here(queue, prelabeler, PassOptions(concurrency=4, budget=Decimal(9)))
    assert (job.state, job.answered_count, prelabeler.prelabels.count()) == ("done", 30, 30)  # type: ignore[attr-defined]
    # What was on its way when the process died is all that was asked again, and the cap knows of it.
    again = len(server.requests) - 30
    assert 0 <= again <= 4
    assert (again > 0) == (job.uncertain_cost > 0)
    paid = prelabeler.prelabels.aggregate(paid=Sum("cost"))["paid"]  # type: ignore[attr-defined]
    assert float(paid) == pytest.approx(float(job.cost)) == pytest.approx(0.003 * 30)


def url_of_test_database() -> str:
    """The address under which another process reaches the database of the tests."""
    found = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{found['NAME']}"
    password = f":{found['PASSWORD']}" if found["PASSWORD"] else ""
    return f"postgres://{found['USER']}{password}@{found['HOST']}:{found['PORT']}/{found['NAME']}"
