"""`build_pool SLUG --name NAME --depth N`: a pool of stored runs; with `--extend`, the next version of it."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import asdict, replace
from typing import Any

from pooling.formats.wording import counted, plural
from pooling.interface.commands import InputCommand
from pooling.interface.problems import InputError
from pooling.interface.terminal import progress_bar
from pooling.merging.choice import USUAL_WORDS, Choice, usual_choice
from pooling.merging.summary import as_text, without_pair
from pooling.models import Collection, Pool
from pooling.options import add_option_arguments, chosen, options_of
from pooling.people.membership import collection_named
from pooling.pools.building import build_pool
from pooling.pools.versions import Extension, extend_pool, other_runs, pool_named
from pooling.runs.stored import runs_named


class Command(InputCommand):
    help = "Build a pool from imported runs, or extend one by runs or depth."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        parser.add_argument("--name", help="name of the pool (optional for an extension)")
        parser.add_argument("--runs", metavar="NAME", nargs="+", help="names of runs (default: all)")
        parser.add_argument(
            "--extend",
            metavar="POOL",
            help="make the next version of this pool: --runs are the new ones (default: all it has not), "
            "--budget and --audit-share are for the new pairs, and what is not given is as in the pool",
        )
        group = parser.add_argument_group(
            "how pairs are chosen",
            "The defaults are those of a new pool; an extension has its pool's settings.",
        )
        options = options_of(Choice).values()
        usual = [replace(one, empty=USUAL_WORDS.get(one.name, one.empty)) for one in options]
        add_option_arguments(group, usual, filled=False)
        parser.add_argument(
            "--diagnostics", action="store_true", help="print sizes, unique finds and families to stderr"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        collection = collection_named(options["slug"])
        pool = (self.extend if options["extend"] else self.build)(collection, options)
        new = pool.diagnostics.get("new")
        chosen = (
            f"{new['pairs']:,} of them new and {new['chosen']:,} of these"
            if new
            else f"{pool.chosen_count:,}"
        )
        if many := pool.chosen_of_earlier:
            chosen += f" and {counted(many, 'pair')} of earlier versions"
        audit = (new or pool.diagnostics)["audit"]
        draws = f"{audit:,} of these {plural(audit, 'is', 'are')} drawn at random{_source(pool)}. "
        # Labels are of a later stage, so how many are left to judge is for a plan or a queue to say.
        self.stdout.write(
            f"Pool {pool.pk}, “{pool.name}”: {counted(pool.pair_count, 'pair')} of "
            f"{counted(pool.query_count, 'query')}, {chosen} chosen. "
            f"{draws if audit else ''}A queue leaves out those that have a label."
        )
        if note := without_pair(pool.chosen_count, pool.query_count):
            self.stderr.write(self.style.WARNING(note))
        if options["diagnostics"]:
            self.stderr.write(as_text(pool.diagnostics), ending="")
        for run, count in pool.diagnostics["left_out_queries"].items():
            if count:
                left_out = f"{counted(count, 'query')} {plural(count, 'is', 'are')} not in the collection."
                self.stderr.write(self.style.WARNING(f"{run}: {left_out}"))

    def build(self, collection: Collection, options: dict[str, Any]) -> Pool:
        for name in ("name", "depth"):
            if options[name] is None:
                raise InputError(f"Give --{name}: a new pool needs a name and a depth.")
        runs = runs_named(collection, options["runs"]) if options["runs"] else list(collection.runs.listed())
        choice = asdict(usual_choice(chosen(Choice, options)))
        with progress_bar("Building") as progress:
            return build_pool(collection, name=options["name"], runs=runs, progress=progress, **choice)

    def extend(self, collection: Collection, options: dict[str, Any]) -> Pool:
        pool = pool_named(collection, options["extend"])
        for name in options_of(Choice).keys() - options_of(Extension):
            if options[name] not in (None, getattr(pool, name)):
                raise InputError(f"An extension uses the setting of its pool: omit --{name}.")
        runs = runs_named(collection, options["runs"]) if options["runs"] else list(other_runs(pool))
        extension = chosen(Extension, options)
        with progress_bar("Extending") as progress:
            return extend_pool(pool, runs=runs, name=options["name"], progress=progress, **extension)


def _source(pool: Pool) -> str:
    """Where an audit with a reach draws from, in words; "" for the pairs down to the depth."""
    if pool.reach is None:
        return ""
    lists = counted(len(pool.diagnostics["runs"]), "run") + (
        " and text search" if pool.frame.get("text") else ""
    )
    return f" from the first {counted(pool.reach, 'place')} of {lists}"
