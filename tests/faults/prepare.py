"""Run by `Site.prepare` in a process of its own, after `documents_each = …`: tables, people and a queue."""

import json

from django.contrib.auth.models import User
from django.core.management import call_command

from labeling.queues.opening import open_queue
from pooling.models import Document, Pool, PoolEntry, Query
from pooling.people.membership import add_member, create_collection
from soundings.accounts.tokens import make_token

call_command("migrate", verbosity=0)
people = {name: User.objects.create_user(name) for name in ("ada", "ben", "cleo")}
collection = create_collection(people["ada"], slug="harbour", name="Harbour")
for annotator in ("ben", "cleo"):
    add_member(collection, annotator, "annotator")
queries = Query.objects.bulk_create(
    Query(collection=collection, external_id=f"q{number}", text="night bus") for number in range(5)
)
documents = Document.objects.bulk_create(
    Document(collection=collection, external_id=f"d{number}", title="Night buses", text="They run all night.")
    for number in range(documents_each)  # noqa: F821
)
pool = Pool.objects.create(collection=collection, name="pool", depth=40, strategy="rrf")
PoolEntry.objects.bulk_create(
    PoolEntry(
        pool=pool,
        query=query,
        document=document,
        position=position,
        run_count=1,
        best_rank=position,
        rrf=0.1,
        inclusion_probability=1.0,
    )
    for query in queries
    for position, document in enumerate(documents, start=1)
)
tokens = {name: make_token(user).token for name, user in people.items()}
print(json.dumps({"tokens": tokens, "queue": open_queue(pool, seed=1).pk}))
