"""Offers of membership, API tokens by their hashes alone, and a limit on letters."""

from hashlib import sha256

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.utils import timezone


def move_tokens(apps, schema_editor):
    """Keep the hashes of tokens that were stored as they are, and let the tokens themselves go.

    They work on until their owners change their passwords.
    """
    connection = schema_editor.connection
    if "authtoken_token" not in connection.introspection.table_names():
        return
    if connection.vendor == "sqlite":
        schema_editor.execute("PRAGMA secure_delete = ON")  # not even in free pages of the file
    with connection.cursor() as cursor:
        cursor.execute("SELECT user_id, key FROM authtoken_token")
        keys = dict(cursor.fetchall())
    users = apps.get_model("auth", "User").objects.filter(pk__in=keys)
    tokens = apps.get_model("pooling", "ApiToken")
    tokens.objects.bulk_create(
        tokens(
            user_id=user,
            name="From before tokens had names",
            token_sha256=_hashed(keys[user]),
            password_sha256=_hashed(password),
        )
        for user, password in users.values_list("pk", "password")
    )
    schema_editor.execute("DELETE FROM authtoken_token")
    schema_editor.execute("DROP TABLE authtoken_token")


def end_orphaned_invitations(apps, schema_editor):
    """Open invitations of accounts that are deleted by now end, as those of removed admins do."""
    rows = apps.get_model("pooling", "Invitation").objects
    rows.filter(invited_by=None, accepted_at=None, withdrawn_at=None).update(withdrawn_at=timezone.now())


def _hashed(text):
    return sha256(text.encode()).hexdigest()


class Migration(migrations.Migration):
    dependencies = [
        ("pooling", "0008_guidelines_length"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunPython(end_orphaned_invitations, migrations.RunPython.noop),
        migrations.AddField("invitation", "mailed_at", models.DateTimeField(blank=True, null=True)),
        migrations.AddField(
            "invitation",
            "user",
            models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="offers",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            "invitation",
            "username",
            models.CharField(
                blank=True, default="", help_text="Of an offer: whom it is for.", max_length=150
            ),
            preserve_default=False,
        ),
        migrations.AlterField(
            "invitation",
            "invited_by",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=80)),
                ("token_sha256", models.CharField(max_length=64, unique=True)),
                (
                    "password_sha256",
                    models.CharField(help_text="Of the stored password, itself a hash.", max_length=64),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "expires_at",
                    models.DateTimeField(blank=True, help_text="None: with the password alone.", null=True),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="api_tokens",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={"ordering": ["-pk"]},
        ),
        migrations.CreateModel(
            name="Letter",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("about_sha256", models.CharField(max_length=64)),
                ("at", models.DateTimeField(auto_now_add=True)),
            ],
            options={"indexes": [models.Index(fields=["about_sha256", "at"], name="letters_about_somebody")]},
        ),
        migrations.RunPython(move_tokens, migrations.RunPython.noop),
    ]
