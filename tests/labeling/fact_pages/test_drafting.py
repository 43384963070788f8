"""Facts drafted by a model: proposals alone, within a budget, whatever the model says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from pytest_django.fixtures import DjangoCaptureOnCommitCallbacks

from labeling.fact_pages.drafting import DraftOptions, draft_facts, read_facts
from labeling.facts.labels import support_labels
from labeling.models import Fact, ImportedLabel
from labeling.prelabels.costs import parse_budget, parse_prices
from labeling.prelabels.model_answers import MalformedAnswerError
from labeling.qrels.imported import import_qrels
from pooling.interface.problems import InputError
from pooling.models import AdminAction, Job
from tests.labeling.facts.helpers import bring_facts
from tests.world import World, qrels_text

pytestmark = pytest.mark.django_db
PRICES = parse_prices("1/1")


class Drafter:
    """A model on loopback that says what it is given, request by request, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.says: list[str] = []
        drafter = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                drafter.asked.append(body)
                said = drafter.says[min(len(drafter.asked), len(drafter.says)) - 1]
                usage = {"prompt_tokens": 1000, "completion_tokens": 100}
                message = {"message": {"content": said}, "finish_reason": "stop"}
                answer = json.dumps({"choices": [message], "usage": usage}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *args: object) -> None:
                """Nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"


@pytest.fixture
def drafter(world: World) -> Iterator[Drafter]:
    labels = world.folder / "labels.txt"
    labels.write_text(qrels_text())
    import_qrels(world.collection, labels, user=world.ada)
    made = Drafter()
    thread = Thread(target=made.server.serve_forever)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


def said(*texts: str) -> str:
    return json.dumps({"facts": [{"text": text, "importance": "vital"} for text in texts]})


def test_a_model_proposes_facts_from_relevant_documents_and_confirms_none(
    world: World, drafter: Drafter
) -> None:
    bring_facts(world)
    drafter.says = [said("Night buses run on lines N1 to N4.", "The last bus leaves after midnight.")]
    done = draft_facts(world.collection, DraftOptions("small", drafter.url, ["q1"]))
    assert (done.queries, done.facts, done.requests) == (1, 1, 1)  # one of the two was known
    made = Fact.objects.get(origin="drafted")
    assert (made.text, made.state) == ("The last bus leaves after midnight.", "proposed")
    assert str(made.prelabeler).startswith("small, facts v1")
    assert len(support_labels(world.collection).facts) == 3
    told = drafter.asked[0]["messages"][1]["content"]
    assert "Buses run all night" in told
    assert "every thirty minutes." in told
    assert "A bicycle travels free" not in told


def test_a_budget_ends_the_pass_before_a_request_that_it_may_not_pay(world: World, drafter: Drafter) -> None:
    drafter.says = [said("Something."), said("Something else.")]
    budget = parse_budget("0.0045")  # one request may cost up to .002 for its answer and .002 for its prompt
    done = draft_facts(world.collection, DraftOptions("small", drafter.url, None, budget, PRICES))
    assert done.facts >= 1
    assert done.cost <= (budget or 0)
    unlimited = draft_facts(world.collection, DraftOptions("small", drafter.url, None, None, PRICES))
    assert unlimited.left == []
    with pytest.raises(InputError, match="A budget needs prices"):
        draft_facts(world.collection, DraftOptions("unknown", drafter.url, None, budget))


def test_an_answer_that_cannot_be_read_leaves_the_query_without_proposals(
    world: World, drafter: Drafter
) -> None:
    drafter.says = ["I would rather not.", said("Fine.")]
    done = draft_facts(world.collection, DraftOptions("small", drafter.url))
    assert list(done.failed) == ["q1"]
    assert not Fact.objects.filter(query__external_id="q1").exists()
    assert Fact.objects.filter(state="proposed").count() == 2


def test_drafting_that_is_killed_leaves_a_line_of_what_it_began(world: World, drafter: Drafter) -> None:
    drafter.says = [said("Something.")]

    def killed(share: float, detail: str) -> None:
        if share:
            raise SystemExit

    with pytest.raises(SystemExit):
        draft_facts(world.collection, DraftOptions("small", drafter.url), killed, user=world.ada)
    assert Fact.objects.filter(state="proposed").count() == 1
    line = AdminAction.objects.latest("pk")
    assert (line.action, line.subject, line.detail) == (
        "drafting of facts begun",
        "3 queries",
        {"model": "small"},
    )


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        (said("  One \n claim. "), ["One claim."]),
        ('{"facts": [{"text": 7}, "no", {"text": ""}, {"text": "Yes.", "importance": "?"}]}', ["Yes."]),
        (said("word " * 26), []),
    ],
)
def test_what_is_no_fact_is_left_out(content: str, texts: list[str]) -> None:
    assert [one.text for one in read_facts(content)] == texts


def test_an_answer_without_a_list_is_refused() -> None:
    with pytest.raises(MalformedAnswerError, match="no list of facts"):
        read_facts('{"facts": "none"}')


def test_the_command_says_what_it_did(
    world: World, drafter: Drafter, capsys: pytest.CaptureFixture[str]
) -> None:
    drafter.says = [said("Something.")]
    call_command("draft_facts", "harbour", "--model", "small", "--base-url", drafter.url, "--price", "1/1")
    assert "3 proposals for 3 queries, with 3 requests for 0.0033." in capsys.readouterr().out


def test_a_button_on_the_facts_of_a_query_drafts_with_the_model_used_last(
    world: World,
    drafter: Drafter,
    settings: Any,
    client: Client,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    settings.LLM_SERVERS = [drafter.url]
    drafter.says = [said("Something."), said("Something else.")]
    client.force_login(world.ada)
    page = "/collections/harbour/facts/query/?query=q1"
    assert "/facts/draft/?query=q1" in client.get(page).content.decode()
    asked = {"query": "q1", "model": "small", "base_url": drafter.url}
    with django_capture_on_commit_callbacks(execute=True):
        assert client.post("/collections/harbour/facts/draft/", asked).status_code == 302
    content = client.get(page).content.decode()
    assert "Something." in content
    assert "Draft with small" in content
    refused = client.post("/collections/harbour/facts/draft/", {**asked, "budget": "1"})
    assert "A budget needs prices" in refused.content.decode()


def test_a_second_click_pays_for_nothing(
    world: World, drafter: Drafter, settings: Any, client: Client
) -> None:
    settings.LLM_SERVERS = [drafter.url]
    client.force_login(world.ada)
    request = {"query": "q1", "model": "small", "base_url": drafter.url}
    pages = {client.post("/collections/harbour/facts/draft/", request)["Location"] for _ in range(2)}
    client.post("/collections/harbour/facts/draft/", {**request, "query": "q2"})
    assert len(pages) == 1
    assert [job.arguments["queries"] for job in Job.objects.order_by("pk")] == [["q1"], ["q2"]]


def test_a_call_drafts_and_its_job_says_what_was_not_done(
    world: World,
    drafter: Drafter,
    settings: Any,
    client: Client,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    settings.LLM_SERVERS = [drafter.url]
    drafter.says = [said("Something.")]
    ImportedLabel.objects.filter(query__external_id="q2").delete()
    client.force_login(world.ada)
    asked = {"model": "small", "queries": ["q1", "q2"], "budget": 1, "input_price": 1, "output_price": 1}
    with django_capture_on_commit_callbacks(execute=True):
        made = client.post("/api/collections/harbour/facts/drafts/", asked, content_type="application/json")
    assert made.status_code == 202
    job = client.get(f"/api/jobs/{made.json()['job']}/").json()
    assert (job["state"], job["result"]["facts"], job["result"]["cost"]) == ("done", 1, 0.0011)
    assert "no relevant document with a text to draft from: 1, the first q2." in job["result"]["detail"]
    elsewhere = {**asked, "base_url": "http://10.0.0.1/v1"}
    refused = client.post(
        "/api/collections/harbour/facts/drafts/", elsewhere, content_type="application/json"
    )
    assert refused.status_code == 400
