"""`score_clicks LOG… --output SCORES.tsv`: what clicks say of documents, without a database."""

from __future__ import annotations

from argparse import ArgumentParser
from collections import Counter
from typing import Any

from pooling.formats.wording import counted, plural
from pooling.formats.writing import note_on_tabs, write_pieces
from pooling.interface.commands import InputCommand
from pooling.interleaving.click_models import harvested, read_propensities
from pooling.interleaving.click_scores import click_scores, score_lines
from pooling.interleaving.impressions import read_impressions
from pooling.options import add_file
from pooling.storage.storing import disk_errors_named

MODELS = ("pbm", "sdbn", "ctr")


class Command(InputCommand):
    help = "Score query-document pairs by the clicks of a log (User Behavior Insights)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_file(parser, "logs", "queries and events, plain or .gz", metavar="LOG", nargs="+")
        parser.add_argument(
            "--model",
            choices=MODELS,
            default="pbm",
            help="position-based, simplified dynamic Bayesian network, or the rate of clicks (pbm)",
        )
        add_file(parser, "--propensities", "a table with position and propensity, for pbm")
        parser.add_argument("--seed", metavar="N", type=int, default=0, help="of the resampling (0)")
        add_file(parser, "--output", "SCORES.tsv", required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        model, file = options["model"], options["propensities"]
        if file is not None and model != "pbm":
            raise ValueError("--propensities are for --model pbm.")
        propensities = None if file is None else read_propensities(file)
        seen, faults = read_impressions(options["logs"])
        if propensities is not None:
            missing = sorted(set(seen.position.tolist()) - propensities.keys())
            if missing:
                raise ValueError(
                    f"{file} has no propensity for position {missing[0]}, where documents were shown."
                )
        scores = click_scores(seen, model, propensities, seed=options["seed"])
        users = len(set(seen.user.tolist()))
        self.stdout.write(
            f"{counted(len(seen), 'impression')} and {counted(int(seen.clicked.sum()), 'click')} of "
            f"{counted(users, 'person', 'people')}, on {counted(len(seen.pairs), 'pair')}."
        )
        for sentence in faults.sentences():
            self.stdout.write(sentence)
        if model == "pbm" and propensities is None:
            shares = ", ".join(f"{place}: {one:.2f}" for place, one in harvested(seen).items())
            self.stdout.write(f"Looked at, by position, from pairs that changed places: {shares}.")
        notes = Counter(one.note for one in scores)
        scored = notes.pop("", 0)
        self.stdout.write(f"{counted(scored, 'pair')} {plural(scored, 'has', 'have')} a score.")
        for note, number in sorted(notes.items()):
            self.stdout.write(f"No score for {counted(number, 'pair')}: {note}.")
        with disk_errors_named():
            write_pieces(options["output"], (line.encode() for line in score_lines(scores)))
        if note := note_on_tabs(options["output"]):
            self.stderr.write(self.style.WARNING(note), ending="")
        self.stdout.write(
            f"{options['output']}: {counted(len(scores), 'pair')}. A score is a share of clicks, "
            "not relevance."
        )
