"""What the HTTP interface of stage 1 takes and gives, as its schema shows it."""

from __future__ import annotations

from typing import Any

from django.core.validators import validate_slug
from rest_framework import serializers

from pooling.models import AdminAction, Collection, Invitation, Job, Membership, Pool, Role, Run


class CollectionSerializer(serializers.ModelSerializer[Collection]):
    """A collection; `role` is the caller's own."""

    role = serializers.CharField(read_only=True)
    # Whether the slug is free is asked where it is written, which answers 409.
    slug = serializers.CharField(max_length=60, validators=[validate_slug])
    question = serializers.CharField(max_length=300, required=False, allow_blank=True)

    class Meta:
        model = Collection
        fields = ["slug", "name", "question", "guidelines", "created_at", "role"]
        read_only_fields = ["created_at"]


class CollectionDetailSerializer(CollectionSerializer):
    """A collection with what it holds."""

    counts = serializers.DictField(child=serializers.IntegerField(), read_only=True)

    class Meta(CollectionSerializer.Meta):
        fields = [*CollectionSerializer.Meta.fields, "counts"]


class MemberSerializer(serializers.ModelSerializer[Membership]):
    """Who may do what in a collection."""

    username = serializers.CharField(source="user.username", max_length=150)
    role = serializers.ChoiceField(choices=Role.choices)

    class Meta:
        model = Membership
        fields = ["username", "role", "since"]
        read_only_fields = ["since"]


class AskedMemberSerializer(serializers.ModelSerializer[Invitation]):
    """Who is asked to become a member, until when; a name that nobody has is answered alike."""

    pending = serializers.BooleanField(default=True, read_only=True)

    class Meta:
        model = Invitation
        fields = ["username", "role", "pending", "expires_at"]


class OfferedMembershipSerializer(serializers.ModelSerializer[Invitation]):
    """A membership that you are offered."""

    collection = serializers.CharField(source="collection.slug")
    name = serializers.CharField(source="collection.name")
    invited_by = serializers.CharField(source="invited_by.username", allow_null=True, default=None)

    class Meta:
        model = Invitation
        fields = ["id", "collection", "name", "role", "invited_by", "expires_at"]


class InvitationSerializer(serializers.ModelSerializer[Invitation]):
    """What makes one person a member: a link, whose `token` is told once, or an offer to a `username`."""

    role = serializers.ChoiceField(choices=Role.choices)
    email = serializers.EmailField(required=False, default="", allow_blank=True)
    days = serializers.IntegerField(write_only=True, required=False, default=14, min_value=1, max_value=90)
    token = serializers.CharField(read_only=True, required=False)
    url = serializers.CharField(read_only=True, required=False)

    class Meta:
        model = Invitation
        fields = [
            *("id", "role", "email", "username", "days", "created_at", "expires_at", "mailed_at"),
            *("token", "url"),
        ]
        read_only_fields = ["username", "created_at", "expires_at", "mailed_at"]


class AdminActionSerializer(serializers.ModelSerializer[AdminAction]):
    """One thing an admin did; `actor` is null for a command."""

    actor = serializers.CharField(source="actor.username", allow_null=True, default=None)

    class Meta:
        model = AdminAction
        fields = ["id", "at", "actor", "action", "subject", "detail"]


class UploadSerializer(serializers.Serializer[Any]):
    """A file to import."""

    file = serializers.FileField()


class DocumentsUploadSerializer(UploadSerializer):
    """A corpus file; `only_pooled` leaves out what no pool contains."""

    only_pooled = serializers.BooleanField(default=False)


class RunUploadSerializer(UploadSerializer):
    """A run file and, unless the file's own is meant, the run's name."""

    name = serializers.CharField(required=False, default="", allow_blank=True, max_length=200)
    collapse_chunks = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=20,
        help_text="Make documents of chunks: their id is what stands before the last of these separators.",
    )


class ImportSummarySerializer(serializers.Serializer[Any]):
    """What an import of queries or documents did."""

    created = serializers.IntegerField()
    changed = serializers.IntegerField()
    unchanged = serializers.IntegerField()
    left_out = serializers.IntegerField(help_text="Documents that no pool contains.")
    detail = serializers.CharField()
    url = serializers.CharField()


class RunSerializer(serializers.ModelSerializer[Run]):
    """A run as it was imported."""

    rows = serializers.IntegerField(source="row_count")
    queries = serializers.IntegerField(source="query_count")

    class Meta:
        model = Run
        fields = ["id", "name", "rows", "queries", "depth", "tag", "sha256", "imported_at"]


class ImportedRunSerializer(serializers.Serializer[Any]):
    """A run just imported, with what its preflight found."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    rows = serializers.IntegerField()
    queries = serializers.IntegerField()
    depth = serializers.IntegerField()
    tag = serializers.CharField()
    sha256 = serializers.CharField()
    preflight = serializers.DictField()
    detail = serializers.CharField()
    url = serializers.CharField()


class PoolRequestSerializer(serializers.Serializer[Any]):
    """How to build a pool; `runs` are names."""

    name = serializers.CharField(max_length=200)
    runs = serializers.ListField(child=serializers.CharField(), allow_empty=False)
    depth = serializers.IntegerField(min_value=1)
    strategy = serializers.CharField(default="rrf", help_text="A name from /api/strategies/.")
    budget = serializers.IntegerField(min_value=1, required=False, allow_null=True, default=None)
    audit_share = serializers.FloatField(min_value=0, max_value=1, default=0.0)
    seed = serializers.IntegerField(default=0)
    ties = serializers.ChoiceField(choices=["docid", "docid-asc", "file", "rank"], default="docid")
    scores = serializers.ChoiceField(choices=["float64", "float32"], default="float64")
    depths = serializers.DictField(
        child=serializers.IntegerField(min_value=1), default=dict, help_text="Runs with a depth of their own."
    )


class ExtensionSerializer(serializers.Serializer[Any]):
    """What the next version of a pool has more; what is left out is as in the pool."""

    name = serializers.CharField(max_length=200, required=False, allow_null=True, default=None)
    runs = serializers.ListField(child=serializers.CharField(), default=list, help_text="New ones, by name.")
    depth = serializers.IntegerField(min_value=1, required=False, allow_null=True, default=None)
    strategy = serializers.CharField(required=False, allow_null=True, default=None)
    budget = serializers.IntegerField(
        min_value=1, required=False, allow_null=True, default=None, help_text="New pairs. Null: all of them."
    )
    audit_share = serializers.FloatField(
        min_value=0, max_value=1, required=False, allow_null=True, default=None
    )
    seed = serializers.IntegerField(required=False, allow_null=True, default=None)
    depths = serializers.DictField(
        child=serializers.IntegerField(min_value=1), default=dict, help_text="Runs with a depth of their own."
    )


class PoolSerializer(serializers.ModelSerializer[Pool]):
    """A pool and how it was chosen."""

    pairs = serializers.IntegerField(source="pair_count")
    chosen = serializers.IntegerField(source="chosen_count")
    queries = serializers.IntegerField(source="query_count")

    class Meta:
        model = Pool
        fields = [
            "id",
            "name",
            "pairs",
            "chosen",
            "queries",
            "depth",
            "depths",
            "strategy",
            "budget",
            "audit_share",
            "seed",
        ]
        fields += ["ties", "scores", "version", "extends", "provenance", "built_at"]


class BuiltPoolSerializer(serializers.Serializer[Any]):
    """A pool just built."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    pairs = serializers.IntegerField()
    chosen = serializers.IntegerField()
    queries = serializers.IntegerField()
    left_out_queries = serializers.DictField(child=serializers.IntegerField())
    version = serializers.IntegerField()
    new = serializers.DictField(
        allow_null=True, help_text="Of a later version: pairs, chosen, audit and queries that are new."
    )
    detail = serializers.CharField()
    url = serializers.CharField()


class JobStartedSerializer(serializers.Serializer[Any]):
    """Work that went to the background: read /api/jobs/{job}/ until it is done."""

    job = serializers.IntegerField()


class JobSerializer(serializers.ModelSerializer[Job]):
    """How far a job is."""

    class Meta:
        model = Job
        fields = ["state", "progress", "detail", "result"]


class ProblemSerializer(serializers.Serializer[Any]):
    """Every refusal has this shape."""

    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField(help_text="One readable sentence.")
    fields = serializers.DictField(child=serializers.CharField())  # type: ignore[assignment]
