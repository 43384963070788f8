from typing import Any

from django.core.validators import validate_slug
from rest_framework import serializers

from pooling.interface.languages import LANGUAGES
from pooling.interface.serializers import optional_text
from pooling.models import AdminAction, Collection, Invitation, Membership, Role
from pooling.people.invitations import LONGEST_NOTE


class CollectionSerializer(serializers.ModelSerializer[Collection]):
    """A collection; `role` is the caller's own."""

    role = serializers.CharField(read_only=True)
    # Whether the slug is free is asked where it is written, which answers 409.
    slug = serializers.CharField(max_length=60, validators=[validate_slug])
    question = serializers.CharField(max_length=300, required=False, allow_blank=True)

    class Meta:
        model = Collection
        fields = [
            *("slug", "name", "question", "guidelines", "language", "synonyms", "image_hosts"),
            *("created_at", "role"),
        ]
        read_only_fields = ["created_at", "language", "synonyms", "image_hosts"]


class CollectionDetailSerializer(CollectionSerializer):
    """A collection with what it holds."""

    counts = serializers.DictField(child=serializers.IntegerField(), read_only=True)

    class Meta(CollectionSerializer.Meta):
        fields = [*CollectionSerializer.Meta.fields, "counts"]


class CollectionChangeSerializer(serializers.ModelSerializer[Collection]):
    """What is changed about a collection; what is left out stays."""

    archived = serializers.BooleanField(required=False, help_text="Not in lists any more.")
    language = serializers.ChoiceField(choices=list(LANGUAGES.items()), required=False)

    class Meta:
        model = Collection
        fields = ["name", "question", "guidelines", "language", "synonyms", "image_hosts", "archived"]
        extra_kwargs = {"name": {"required": False}}


class RoleSerializer(serializers.Serializer[Any]):
    """Another role."""

    role = serializers.ChoiceField(choices=Role.choices)


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
    """What makes one person a member: a link, whose `token` is shown once, or an offer to a `username`."""

    role = serializers.ChoiceField(choices=Role.choices)
    email = serializers.EmailField(required=False, default="", allow_blank=True)
    note = optional_text("Tells admins whom it is for.", max_length=LONGEST_NOTE)
    days = serializers.IntegerField(write_only=True, required=False, default=14, min_value=1, max_value=90)
    token = serializers.CharField(read_only=True, required=False)
    url = serializers.CharField(read_only=True, required=False)

    class Meta:
        model = Invitation
        fields = [
            *("id", "role", "email", "username", "note", "days", "created_at", "expires_at", "mailed_at"),
            *("token", "url"),
        ]
        read_only_fields = ["username", "created_at", "expires_at", "mailed_at"]


class AdminActionSerializer(serializers.ModelSerializer[AdminAction]):
    """One thing that somebody did; `actor` is null for a command."""

    actor = serializers.CharField(source="actor.username", allow_null=True, default=None)
    subject = serializers.CharField(source="subject_name")

    class Meta:
        model = AdminAction
        fields = ["id", "at", "actor", "action", "subject", "detail"]
