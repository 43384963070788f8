"""`draw_audit SLUG POOL --model M --pairs N`: an audit by a model's scores, opened as a queue."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from labeling.prelabels.export import newest_named
from labeling.quality.score_audits import AuditDraw, audit_table, draw_audit, plan_audit, prelabels_of_pool
from pooling.formats.wording import counted
from pooling.interface.commands import InputCommand
from pooling.people.membership import collection_named
from pooling.pools.versions import pool_named


class Command(InputCommand):
    help = "Draw pairs without a label from bands of a model's scores, and open them as a queue."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        parser.add_argument("pool", metavar="POOL", help="the pool's name")
        parser.add_argument("--model", metavar="M", required=True, help="model whose scores form the strata")
        parser.add_argument("--prompt", metavar="NAME", help="default: the newest")
        parser.add_argument("--pairs", type=int, metavar="N", required=True, help="pairs to judge in all")
        parser.add_argument(
            "--strata", type=int, default=5, metavar="H", help="maximum number of score bands (default: 5)"
        )
        parser.add_argument("--seed", type=int, metavar="S", help="of the draw (default: drawn)")
        parser.add_argument("--judgments-per-item", type=int, default=1, metavar="N", help="default: 1")
        parser.add_argument("--dry-run", action="store_true", help="print the plan without drawing")

    def handle(self, *args: Any, **options: Any) -> None:
        collection = collection_named(options["slug"])
        pool = pool_named(collection, options["pool"])
        prelabeler = newest_named(prelabels_of_pool(pool), options["model"], options["prompt"], pool.name)
        pairs, strata = options["pairs"], options["strata"]
        if options["dry_run"]:
            plan = plan_audit(pool, prelabeler, pairs, strata=strata).facts()
            self.stdout.write(audit_table(plan))
            return
        chosen = {name: options[name] for name in ("seed", "judgments_per_item")}
        queue = draw_audit(pool, prelabeler, AuditDraw(pairs, strata=strata, **chosen))
        facts = queue.pool.provenance
        self.stdout.write(audit_table(facts))
        self.stdout.write(
            f"Queue {queue.pk}, “{queue.name}”: {counted(pairs, 'pair')}, seed {facts['draw_seed']}."
        )
