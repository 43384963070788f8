"""A collection with one of each thing that has an address, for tables over every address of the site.

What has to be computed to be shown (report, replay, latency report) is made as the site makes it; of the
rest, rows are enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.test import Client
from django.utils import timezone

from evaluation.canaries.watching import Alerts
from evaluation.models import CanaryDelivery, Webhook
from evaluation.report_store.shared_links import Sharing, share
from labeling.adaptive.options import AdaptiveOptions
from labeling.gold.questions import NewQuestion, add_question
from labeling.gold.record import WorkDecision, write_decision
from labeling.models import JudgmentImport, LabelFile, PairMessage, PrelabelJob
from labeling.queues.opening import open_queue
from pooling.account_models import SeenSession
from pooling.engines.stored import create_engine
from pooling.interface.chart_library import library_version
from pooling.models import Job, Membership, Pool, Role, TextImport
from pooling.people.invitations import invite, offer
from pooling.pools.building import build_pool
from pooling.runs.stored import import_run
from soundings.accounts.tokens import make_token
from soundings.sign_in.keeping import SEEN
from tests.evaluation.canary_cast import make_canary
from tests.evaluation.cast import make_report
from tests.evaluation.indexes.test_latency_reports import make_latency_report
from tests.evaluation.plans.test_replays import make_replay
from tests.labeling.facts.helpers import bring_facts, fact, fact_queue
from tests.labeling.helpers import judge, make_prelabels
from tests.pooling.engines.cast import settings_at
from tests.world import World, run_text

# What runs and who is signed in was seen last so far ahead: no page writes something more on a slow machine.
LONG = timedelta(days=1)

#: Nobody listens here.
NOWHERE = "http://localhost:9"
#: A name that cannot be looked up: nothing is sent, and no network is asked.
NO_HOST = "http://hooks..example.org"
#: What some addresses need to be asked for.
QUERY_STRINGS = {
    "api_label": "?query=q1&document=d1",
    "api_query_facts": "?query=q1",
    "api_report_documents": "?query=q1",
    "api_report_query": "?query=q1",
    "label": "?query=q1&document=d1",
    "query_facts": "?query=q1",
    "report_query": "?query=q1",
    "report_queries_file": "?a=alpha&b=beta",
    "tidied": "?things=run:{run_id}",
}


@dataclass
class OneOfEach:
    """The world, and what takes the place of each part of an address: by its name, and for some addresses
    another."""

    world: World
    values: dict[str, Any]
    of_address: dict[str, dict[str, Any]]
    people: dict[str, Client]

    def arguments(self, name: str, parts: Any) -> dict[str, Any]:
        """What the address `name` is filled in with."""
        values = self.values | self.of_address.get(name, {})
        return {part: values[part] for part in parts}


def make_one_of_each(world: World) -> OneOfEach:
    """Ada made all of it, Ben judged, and what belongs to a person is Ada's."""
    ada, ben, collection = world.ada, world.ben, world.collection
    runs = world.import_runs()
    pool = build_pool(collection, name="whole pool", runs=runs, depth=3, user=ada)
    learned = build_pool(collection, name="live pool", runs=runs, depth=3, strategy="learned")
    outside = world.folder / "outside.run"
    outside.write_text(run_text({"q1": ["d2"]}))
    import_run(collection, outside, user=ada)
    queue = open_queue(pool, name="queue", judgments_per_item=1, seed=1, user=ada)
    add_question(collection, NewQuestion(query="q1", document="d1", answer="relevant"))
    item = queue.items.order_by("pk")[0]
    judge(queue, ben, item.pk)
    judge(queue, world.cleo, item.pk)
    adaptive = {"queue_id": open_queue(learned, adaptive=AdaptiveOptions(), seed=1).pk}
    world.add_document()
    report = make_report(world, k=(1, 2))
    prelabeler = make_prelabels(world)
    bring_facts(world)
    now = timezone.now()
    for put_away in ({"archived_at": now}, {"deleted_at": now, "deleted_by": ada}):
        name, *_ = put_away
        Pool.objects.create(collection=collection, name=name, depth=1, strategy="rrf", **put_away)
    hook = Webhook.objects.create(
        collection=collection, url=NO_HOST, events=["release.made"], sealed_secret="", created_by=ada
    )
    told = {"collection": collection, "channel": "webhook", "receiver": "127.0.0.1", "state": "failed"}
    of_hook = CanaryDelivery.objects.create(webhook=hook, body={"type": "release.made"}, **told)
    canary = make_canary(
        world, Alerts(0.7, webhook_url=f"{NO_HOST}/hook", secret="a secret of some length"), tag=""
    )
    of_canary = CanaryDelivery.objects.create(**told)
    of_canary.news.create(canary=canary)
    decision = write_decision(
        queue,
        WorkDecision(
            annotator_id=ben.pk,
            annotator="ben",
            decision="ask",
            last_event=0,
            chance=0.001,
            signs=["fast"],
            question="Why?",
        ),
        ada,
    )
    message = PairMessage.objects.create(
        collection=collection,
        queue=queue,
        query=item.query,
        document=item.document,
        author=ben,
        key="k",
        text="?",
    )
    Client().force_login(ada)
    brought = {"collection": collection, "name": "file", "imported_by": ada}
    of_facts = {"queue_id": fact_queue(world).pk}
    of_judgments = {"import_id": JudgmentImport.objects.create(**brought, format="csv", imported_at=now).pk}
    latency = {"report_id": make_latency_report(world).pk}
    invited = invite(collection, Role.VIEWER, by=ada)
    link = share(report, Sharing(), by=ada)
    values = {
        "slug": collection.slug,
        "collection__slug": collection.slug,
        "collection_id": collection.pk,
        "queue_id": queue.pk,
        "report_id": report.pk,
        "canary_id": canary.pk,
        "pool_id": pool.pk,
        "webhook_id": hook.pk,
        "prelabeler_id": prelabeler.pk,
        "replay_id": make_replay(world).pk,
        "job_id": Job.objects.create(collection=collection, kind="pool", created_by=ada).pk,
        "engine_id": create_engine(collection, "shop", settings_at(NOWHERE), user=ada).pk,
        "run_id": collection.runs.earliest("pk").pk,
        "release_id": collection.releases.earliest("pk").pk,
        "import_id": TextImport.objects.create(**brought, of="queries").pk,
        "delivery_id": of_canary.pk,
        "decision_id": decision.id,
        "offer_id": offer(collection, "ada", Role.VIEWER, by=ada, user=ada).pk,
        "token_id": make_token(ada).row.pk,
        "session_id": SeenSession.objects.get(user=ada).pk,
        "question_id": collection.gold_questions.get().pk,
        "pass_id": PrelabelJob.objects.create(
            queue=queue, prelabeler=prelabeler, state="running", seen_at=timezone.now() + LONG
        ).pk,
        "message_id": message.pk,
        "member_id": Membership.objects.get(user=world.cleo).pk,
        "link_id": link.link.pk,
        "invitation_id": invited.invitation.pk,
        "file_id": LabelFile.objects.create(collection=collection, name="file", imported_by=ada).pk,
        "fact_id": fact(world, "lines").pk,
        "thing_id": collection.runs.earliest("pk").pk,
        "external_id": "q3",
        "name": "ben",
        "username": "ben",
        "kind": "run",
        "format": "csv",
        "variant": "light",
        "picture": "pace",
        "suffix": "svg",
        "what": "missed",
        "page": "pooling",
        "language": "de",
        "uidb64": "x",
        "token": link.token,
        "version": library_version(),
    }
    other_values = [
        ("api_document api_document_restore", {"external_id": "d6"}),
        ("api_account", {"username": "ada"}),
        ("api_judgment_import api_judgment_import_restore", of_judgments),
        ("api_latency_report api_latency_file api_latency_restore", latency),
        ("latency_report latency_download latency_chart", latency),
        (
            "api_fact_queue api_fact_claim api_fact_pages api_fact_release api_fact_skip api_fact_undo",
            of_facts,
        ),
        ("fact_queue judge_facts", of_facts),
        ("api_selection api_queue_finish queue_finish", adaptive),
        ("api_webhook_delivery_again webhook_delivery_again", {"delivery_id": of_hook.pk}),
        ("facts_download api_facts_download", {"format": "facts"}),
        ("api_report_chart report_picture report_chart_page", {"name": "curve"}),
        ("report_chart_file", {"name": "curve", "format": "svg"}),
        ("invitation", {"token": invited.token}),
        ("password_reset_confirm", {"token": "x"}),
    ]
    of_address = {name: other for names, other in other_values for name in names.split()}
    return OneOfEach(world, values, of_address, _signed_in(world))


def _signed_in(world: World) -> dict[str, Client]:
    """A browser of each kind of person."""
    people = {"anonymous": None, "stranger": world.dan, "annotator": world.ben, "viewer": world.vera}
    browsers = {}
    for name, user in {**people, "admin": world.ada}.items():
        browsers[name] = Client()
        if user:
            browsers[name].force_login(user)
            session = browsers[name].session
            session[SEEN] = (timezone.now() + LONG).timestamp()
            session.save()
    return browsers
