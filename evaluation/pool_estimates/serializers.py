"""What a pool tells, as an HTTP call writes it."""

from __future__ import annotations

from rest_framework import serializers


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
