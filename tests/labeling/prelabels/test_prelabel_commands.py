"""The commands for pre-labels, and a pass that is killed in the middle."""

from __future__ import annotations

import io
import json
import signal
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import Sum
from pytest_django import Settings
from rest_framework.test import APIClient

from labeling.exposure.use import PrelabelUse, change_use
from labeling.models import Prelabeler, PrelabelJob, Queue
from labeling.prelabels.options import key_for, prelabeler_for
from labeling.prelabels.passes import PassOptions, run_here, start_pass
from labeling.prelabels.views import UseForm
from labeling.quality.score_audit_views import AuditForm
from labeling.quality.worth import worth_of_all
from labeling.queues.forms import QueueForm
from labeling.queues.opening import open_queue
from pooling.models import Document, Pool
from tests.labeling.helpers import judge, make_pool, make_prelabels, make_queue
from tests.labeling.model_server import ModelServer
from tests.patience import wait_until
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
    assert "Based on the length" in by_texts
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
    run("export_prelabels", "--output", str(tmp_path / "model.jsonl"))
    assert (tmp_path / "model.jsonl").read_text().startswith('{"query_id": "q1"')
    run("export_prelabels", "--format", "trec", "--output", str(path))
    query, source, document, relevance = path.read_text().splitlines()[0].split(" ")
    assert (query, source.split(":")[0], document, relevance) == ("q1", "llm", "d1", "1")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--budget", "much"), "not an amount"),
        (("--price", "5"), "not a price"),
        (("--base-url", "https://api.openai.com/v1"), "Everything except pre-labels works without"),
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
def test_a_model_that_nobody_asked_is_neither_listed_nor_chosen(
    world: World, queue: Queue, server: ModelServer
) -> None:
    """One of an estimate, one of a refused start, and one that the server does not know."""
    server.model = "small"
    run("prelabel", "--dry-run", "--model", "smal")
    for model, arguments in (("smoll", ("--concurrency", "0")), ("smalll", ())):
        with pytest.raises(CommandError):
            run("prelabel", "--model", model, *arguments)
    with pytest.raises(CommandError, match="There are no pre-labels in “harbour”"):
        said_by("prelabel_quality")
    assert worth_of_all(world.collection) == []
    # A pass that is about to begin is enough, since second opinions may be asked for before it.
    start_pass(queue, prelabeler_for(queue.collection, "small"), PassOptions())
    assert said_by("prelabel_quality").splitlines()[1:] == ["It has no pre-labels yet."]
    for form in (UseForm(queue), AuditForm(queue.collection), QueueForm(queue.collection)):
        text = form.as_p()
        assert "small, binary" in text
        assert [name for name in ("smal,", "smoll", "smalll") if name in text] == []
    with pytest.raises(CommandError, match=r"has no model “smal”. Known: small, [^,]*$"):
        said_by("prelabel_use", "first", "--model", "smal")
    # What a queue uses stays in its form, whatever becomes of the pass.
    change_use(queue, PrelabelUse(prelabeler=Prelabeler.objects.get(model="smal")))
    assert "smal," in UseForm(queue).as_p()


@pytest.mark.django_db
def test_without_a_key_the_estimate_is_told_and_so_is_what_is_missing(
    queue: Queue, world: World, settings: Settings
) -> None:
    settings.LLM_SERVERS = ["https://api.openai.com/v1"]
    missing = "There is no key for https://api.openai.com/v1"
    told = run("prelabel", "--dry-run")
    assert "6 to ask" in told
    assert missing in told
    api = APIClient()
    api.force_authenticate(world.ada)
    found = api.get(f"/api/queues/{queue.pk}/prelabels/").json()
    assert missing in found["not_set_up"]
    assert [one["base_url"] for one in found["servers"]] == settings.LLM_SERVERS


@pytest.mark.django_db
def test_a_pass_that_the_server_stops_is_an_error_of_the_command(queue: Queue, server: ModelServer) -> None:
    server.model = "another"
    with pytest.raises(CommandError, match="has no model “small”"):
        run("prelabel")
    with pytest.raises(CommandError, match="There are no pre-labels"):
        run("export_prelabels", "--output", "nowhere.csv")
    assert PrelabelJob.objects.get().state == "failed"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_kill_in_the_middle_loses_no_answer_and_pays_none_twice(
    world: World, server: ModelServer, settings: Settings, tmp_path: Path
) -> None:
    """Thirty pairs, four at a time: killed while the server holds back four answers, then gone on with."""
    for number in range(10):
        Document.objects.create(collection=world.collection, external_id=f"a{number}", text=f"{number} buses")
    pool = make_pool(world, queries=3, documents=10)
    queue = open_queue(pool, name="first", seed=1)
    server.fault_of = lambda query, document: "silent" if len(server.requests) > 16 else None
    settings.LLM_JOURNAL_DIR = tmp_path / "prelabels"
    asking = ("prelabel", "harbour", "first", "--model", "small", "--concurrency", "4", "--budget", "9")
    variables = {"DATABASE_URL": url_of_test_database(), "SOUNDINGS_LLM_SERVERS": server.base_url}
    first = start(tmp_path, *asking, **variables, SOUNDINGS_LLM_PRICES="small=10/100")
    wait_until(lambda: len(server.requests) == 20 or first.poll() is not None)
    first.send_signal(signal.SIGKILL)
    output, _ = first.communicate()
    sent = len(server.requests)
    assert sent == 20, output
    server.fault_of = lambda query, document: None
    prelabeler = prelabeler_for(queue.collection, "small")
    job = run_here(queue, prelabeler, PassOptions(concurrency=4, budget=Decimal(9)))
    assert (job.state, job.answered_count, prelabeler.prelabels.count()) == ("done", 30, 30)  # type: ignore[attr-defined]
    # What was on its way when the process died is all that was asked again, and the cap knows of it.
    assert len(server.requests) == 34
    assert job.uncertain_cost > 0
    paid = prelabeler.prelabels.aggregate(paid=Sum("cost"))["paid"]  # type: ignore[attr-defined]
    assert float(paid) == pytest.approx(float(job.cost)) == pytest.approx(0.003 * 30)


def url_of_test_database() -> str:
    """The address under which another process reaches the database of the tests."""
    found = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{found['NAME']}"
    password = f":{found['PASSWORD']}" if found["PASSWORD"] else ""
    return f"postgres://{found['USER']}{password}@{found['HOST']}:{found['PORT']}/{found['NAME']}"


def said_by(command: str, *arguments: str) -> str:
    out = io.StringIO()
    call_command(command, "harbour", *arguments, stdout=out)
    return out.getvalue()


@pytest.mark.django_db
def test_passes_are_listed_paused_resumed_and_cancelled(
    queue: Queue, server: ModelServer, django_capture_on_commit_callbacks: Any
) -> None:
    assert "No model has been asked" in said_by("prelabel_pass", "first", "list")
    job = start_pass(queue, prelabeler_for(queue.collection, "small"), PassOptions(budget=Decimal(1)))
    assert f"{job.pk}  paused  small, binary" in said_by("prelabel_pass", "first", "pause")
    with django_capture_on_commit_callbacks(execute=True):
        said_by("prelabel_pass", "first", "resume", "--budget", "2")
    (row,) = json.loads(said_by("prelabel_pass", "first", "list", "--format", "json"))
    assert (row["state"], row["answered_count"], row["budget"]) == ("done", 6, 2.0)
    assert "0.0180 USD of 2.0000" in said_by("prelabel_pass", "first", "list", str(job.pk))
    PrelabelJob.objects.update(state="paused")
    other = start_pass(queue, prelabeler_for(queue.collection, "other"), PassOptions())
    for arguments, said in (
        (("pause", "99999999"), "has no pass number 99999999"),
        (("pause", "--budget", "2"), "belongs to resume"),
        (("resume", "--budget", "much"), "not an amount above 0"),
        (("cancel",), rf"can be cancelled: {other.pk} \(other.*{job.pk} \(small.*Name one"),
    ):
        with pytest.raises(CommandError, match=said) as refused:
            said_by("prelabel_pass", "first", *arguments)
        assert refused.value.returncode == 2
    assert "cancelled" in said_by("prelabel_pass", "first", "cancel", str(other.pk))


@pytest.mark.django_db
def test_a_key_is_read_from_stdin_and_never_printed(
    queue: Queue, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("sk-secret-1234\nmore\n"))
    told = said_by("prelabel_key", "store") + said_by("prelabel_key", "list")
    assert key_for(queue.collection, server.base_url) == "sk-secret-1234"
    assert told.count(server.base_url) == 2
    assert "secret" not in told
    for action, text, said in (("store", "", "No key on stdin"), ("store", "a b", "without spaces")):
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        with pytest.raises(CommandError, match=said):
            said_by("prelabel_key", action)
    said_by("prelabel_key", "remove", "--base-url", server.base_url)
    assert key_for(queue.collection, server.base_url) is None
    assert "has no key" in said_by("prelabel_key", "list")
    with pytest.raises(CommandError, match="No key is saved"):
        said_by("prelabel_key", "remove")


@pytest.mark.django_db
def test_what_a_queue_does_with_pre_labels_is_told_and_changed(world: World, queue: Queue) -> None:
    make_prelabels(world)
    assert "people judge blind. No verdict asks" in said_by("prelabel_use", "first")
    judge(queue, world.ben, queue.items.all()[0].pk, "not_relevant")
    told = said_by("prelabel_use", "first", "--model", "small", "--second-opinion-from", "0.9")
    assert "1 judged pair was checked" in told
    assert "of small, binary v1 () that is at least 0.9 sure asks for one more judgment" in told
    with pytest.raises(CommandError, match="Confirm that you have understood this"):
        said_by("prelabel_use", "first", "--prelabels", "assist")
    told = said_by("prelabel_use", "first", "--prelabels", "assist", "--understood", "--no-second-opinions")
    assert "see pre-labels of small, binary v1 () before the verdict; 10 % stay blind. No verdict" in told
    for arguments, said in (
        (("--model", "large"), "has no model “large”. Known: small"),
        (("--prompt", "binary"), "belongs to --model"),
        (("--blind-share", "0"), "The share that stays blind"),
    ):
        with pytest.raises(CommandError, match=said) as refused:
            said_by("prelabel_use", "first", *arguments)
        assert refused.value.returncode == 2


@pytest.mark.django_db
def test_a_queue_is_ordered_and_a_sample_drawn_as_by_their_pages(world: World, queue: Queue) -> None:
    with pytest.raises(CommandError, match="There are no pre-labels by “small” in “first”"):
        said_by("order_queue", "first", "--by", "small")
    with pytest.raises(CommandError, match="has no model “small” that has answered"):
        said_by("draw_sample", "--model", "small")
    make_prelabels(world)
    assert "“first”: 6 pairs that nobody had judged, in the order of small" in said_by(
        "order_queue", "first", "--by", "small"
    )
    with pytest.raises(CommandError, match="“first” has a fixed order"):
        said_by("order_queue", "first", "--without-scores")
    told = said_by("draw_sample", "--model", "small", "--positives-bound", "0.3", "--seed", "5")
    sample = Queue.objects.get(pool__strategy=Pool.VERIFICATION)
    size = sample.pool.provenance["positives"]["size"]
    assert f"“{sample.name}”: 0 of 0 negatives and {size} of 18 positives" in told
    assert (sample.items.count(), sample.prelabel_mode) == (size, "blind")
    assert "seed 5" in told
    assert said_by("draw_sample", "--model", "small", "--positives-bound", "0.3", "--seed", "5") != told
    for arguments, said in (
        (("--positives-bound", "0.9"), "A bound must be a share from 0.001 to 0.5"),
        (("--positives", "none"), "The samples would be 0 pairs"),
    ):
        with pytest.raises(CommandError, match=said) as refused:
            said_by("draw_sample", "--model", "small", *arguments)
        assert refused.value.returncode == 2
