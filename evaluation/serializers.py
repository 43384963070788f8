"""What the HTTP interface takes and gives for reports and replays, for checking and for its description."""

from __future__ import annotations

from rest_framework import serializers


class ReportRequestSerializer(serializers.Serializer[dict[str, object]]):
    """A report to create; everything has a default."""

    name = serializers.CharField(required=False, max_length=200)
    release = serializers.CharField(
        required=False, help_text="Name of a qrels release; the newest if absent."
    )
    runs = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Names of runs; all if absent."
    )
    k = serializers.ListField(
        child=serializers.IntegerField(),
        required=False,
        help_text="1 3 5 10 20 50 100 as far as pool and runs go, if absent.",
    )
    measures = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="recall, precision, f1, success and judged if absent; the first and last always. A name "
        "may have a K (ndcg@10), which the report then has for all.",
    )
    preset = serializers.CharField(required=False, help_text="trec_eval, trec_eval-c or trec_eval-9.")
    min_relevance = serializers.IntegerField(required=False, help_text="1 if absent.")
    zero_relevant = serializers.CharField(required=False, help_text="exclude (if absent) or zero.")
    missing = serializers.CharField(required=False, help_text="zero (if absent) or skip.")
    ties = serializers.CharField(required=False, help_text="docid (if absent), docid-asc, file or rank.")
    scores = serializers.CharField(required=False, help_text="float64 (if absent) or float32.")
    conventions = serializers.DictField(
        required=False,
        help_text="The six above in one object, as in an evaluation file; those beside it win over it.",
    )
    confidence = serializers.FloatField(required=False, help_text="Level of the intervals; 0.95 if absent.")
    tags = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="The queries with each are told apart."
    )
    minimum_queries = serializers.IntegerField(
        required=False, help_text="With fewer in the means, `warnings` of the numbers says so."
    )
    thresholds = serializers.DictField(
        child=serializers.FloatField(),
        required=False,
        help_text="`measure@k` to what every run's mean should reach; `thresholds` of the numbers tells.",
    )
    pool = serializers.CharField(
        required=False,
        help_text="Name of the pool that estimates rest on; if absent, the one whose audit is furthest "
        "answered over the runs and queries measured.",
    )
    samples = serializers.IntegerField(required=False, help_text="Of the bootstrap; 10,000 if absent.")
    seed = serializers.IntegerField(required=False, help_text="Of the bootstrap; 0 if absent.")


class ReportSerializer(serializers.Serializer[dict[str, object]]):
    """A report in a list, or just created; its numbers are at /api/reports/{id}/."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    url = serializers.CharField(help_text="The report's page.")


class ReportJobSerializer(serializers.Serializer[dict[str, object]]):
    """The job that measures large runs; poll /api/jobs/{job}/."""

    job = serializers.IntegerField()


class ReportResultSerializer(serializers.Serializer[dict[str, object]]):
    """The object that `evaluate --format json` prints."""

    conventions = serializers.DictField(help_text="All that the numbers depend on.")
    queries = serializers.DictField(help_text="How many were scored, left out, missing; and which.")
    runs = serializers.DictField(
        child=serializers.DictField(), help_text="Run name to `measure@k` to mean, low, high and more."
    )
    estimates = serializers.DictField(
        required=False,
        help_text="What the audit of the `pool` says (of the pools with an audit `others`, with the share "
        "`answered` of runs and queries): `status` and `sentence`, `relevant` documents with "
        "interval and the bound on what is missing, `runs` to `recall@k` to `micro` and `macro`, and more. "
        "`prediction_powered` has the same with a model's pre-labels beside the labels, or null: each figure "
        "with `human` and `powered` interval, `weight`, `narrower` and `why` the weight is 0. "
        "`audit_by_scores` is what an audit by strata of a model's scores says of its pool, or null: "
        "`relevant`, `runs` to `recall@k` and `precision@k`, `differences`, `strata`, `counts` and `notes`.",
    )
    strata = serializers.DictField(
        child=serializers.DictField(),
        required=False,
        help_text="Tag to `queries` and `runs`, where tags were named.",
    )
    thresholds = serializers.DictField(
        child=serializers.DictField(),
        required=False,
        help_text="`measure@k` to `at_least` and the runs `below`, where thresholds were named.",
    )
    minimum_queries = serializers.IntegerField(required=False)
    warnings = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Sentences, where a minimum was named."
    )


class ReplayRequestSerializer(serializers.Serializer[dict[str, object]]):
    """A replay to make; everything has a default."""

    name = serializers.CharField(required=False, max_length=200)
    release = serializers.CharField(
        required=False, help_text="Name of a qrels release; the labels as they stand if absent."
    )
    runs = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Names of runs; all if absent."
    )
    depth = serializers.IntegerField(
        required=False, min_value=1, help_text="Of the pool; 50, or that of the deepest run, if absent."
    )
    strategies = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Names of strategies; all if absent."
    )
    budgets = serializers.ListField(
        child=serializers.FloatField(),
        required=False,
        help_text="Shares of each query's pool; 0.1 0.25 0.5 if absent.",
    )
    seeds = serializers.IntegerField(default=1, help_text="Repetitions of what depends on chance, 1 to 20.")
    noise = serializers.FloatField(default=0.0, help_text="Share of the labels told wrong, below 0.5.")
    batch = serializers.IntegerField(default=1, help_text="Labels told at a time.")
    k = serializers.IntegerField(
        required=False, min_value=1, help_text="Cutoff of the recalls; the depth if absent."
    )


class ReplaySerializer(serializers.Serializer[dict[str, object]]):
    """A replay in a list, or just made; its numbers are at /api/replays/{id}/."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    url = serializers.CharField(help_text="The replay's page.")


class ReplayJobSerializer(serializers.Serializer[dict[str, object]]):
    """The job that does a long replay; poll /api/jobs/{job}/."""

    job = serializers.IntegerField()


class ReplayResultSerializer(serializers.Serializer[dict[str, object]]):
    """The object that `simulate --format json` prints."""

    strategies = serializers.DictField(
        child=serializers.DictField(),
        help_text="Name to `found`, `spread`, `effort`, `tau` and errors of recall, each by share.",
    )
    all_knowing = serializers.DictField(help_text="`found` and `effort` of an order that knows the labels.")
    curves = serializers.DictField(
        help_text="`share`: points of the pool; `found`: by strategy what was found there; `all_knowing`."
    )
    pool = serializers.DictField(help_text="Runs, depth, pairs, labelled pairs, queries, relevant pairs.")
    settings = serializers.DictField(help_text="Seeds, noise, batch and K.")


class PoolDiagnosticsSerializer(serializers.Serializer[dict[str, object]]):
    """What a pool tells; by run means by its name."""

    runs = serializers.ListField(child=serializers.CharField())
    contributed = serializers.DictField(help_text="By run: pairs of the pool that it found.")
    unique_finds = serializers.DictField(help_text="By run: pairs that it alone found.")
    families = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="Groups of runs that are nearly the same list.",
    )
    overlap = serializers.ListField(
        child=serializers.ListField(child=serializers.FloatField()),
        help_text="Share of the row's top that the column's run has too, in the order of `runs`.",
    )
    size_by_depth = serializers.ListField(child=serializers.IntegerField(), help_text="From depth 1 on.")
    sizes = serializers.DictField(help_text="Pairs per query: least, median, mean, most, bins.")
    thin = serializers.DictField(help_text="Queries with fewer than half the median of pairs.")
    queries = serializers.ListField(help_text="[query id, pairs, pairs that one run alone found].")
    audit = serializers.IntegerField(help_text="Pairs of the audit sample.")
    left_out_queries = serializers.DictField(help_text="By run: queries that the collection does not have.")
    labels = serializers.DictField(
        allow_null=True,
        help_text="labelled, relevant, relevant_alone by run, dry_depth, by_rank; null without a label.",
    )
