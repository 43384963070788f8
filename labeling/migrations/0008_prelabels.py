"""What models propose for pairs, how they were asked, and what it cost."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("labeling", "0007_adaptive_queues"),
        ("pooling", "0004_search"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Prelabeler",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "source",
                    models.CharField(
                        choices=[("language_model", "language model"), ("local_model", "local model")],
                        default="language_model",
                        max_length=20,
                    ),
                ),
                ("model", models.CharField(help_text="As the server calls it.", max_length=200)),
                (
                    "base_url",
                    models.CharField(
                        blank=True, help_text="The server; empty for a local model.", max_length=500
                    ),
                ),
                ("prompt", models.CharField(blank=True, help_text="Name of the template.", max_length=60)),
                ("prompt_version", models.PositiveIntegerField(default=0)),
                (
                    "prompt_hash",
                    models.CharField(
                        blank=True,
                        help_text="SHA-256 of the template with the guidelines in it.",
                        max_length=64,
                    ),
                ),
                (
                    "options",
                    models.JSONField(
                        default=dict, help_text="temperature, seed, max_tokens, threshold and the like."
                    ),
                ),
                ("options_hash", models.CharField(max_length=64)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "collection",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="prelabelers",
                        to="pooling.collection",
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
            },
        ),
        migrations.CreateModel(
            name="PrelabelJob",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("paused", "Paused"),
                            ("cancelled", "Cancelled"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                        ],
                        default="queued",
                        max_length=10,
                    ),
                ),
                (
                    "asked",
                    models.CharField(
                        blank=True,
                        choices=[("", "nothing"), ("pause", "Pause"), ("cancel", "Cancel")],
                        default="",
                        max_length=10,
                    ),
                ),
                ("detail", models.TextField(blank=True, help_text="What it is doing, or why it ended.")),
                ("concurrency", models.PositiveIntegerField(default=8, help_text="Requests at a time.")),
                (
                    "pair_limit",
                    models.PositiveIntegerField(blank=True, help_text="Pairs at most. Null: all.", null=True),
                ),
                (
                    "retries_failed",
                    models.BooleanField(default=False, help_text="Asks again where an earlier pass failed."),
                ),
                (
                    "uses_batches",
                    models.BooleanField(default=False, help_text="Through the server's Batch interface."),
                ),
                (
                    "budget",
                    models.DecimalField(
                        blank=True,
                        decimal_places=10,
                        help_text="Cost at most. Null: no cap.",
                        max_digits=20,
                        null=True,
                    ),
                ),
                (
                    "input_price",
                    models.DecimalField(
                        blank=True,
                        decimal_places=10,
                        help_text="Per million tokens.",
                        max_digits=20,
                        null=True,
                    ),
                ),
                (
                    "output_price",
                    models.DecimalField(
                        blank=True,
                        decimal_places=10,
                        help_text="Per million tokens.",
                        max_digits=20,
                        null=True,
                    ),
                ),
                ("currency", models.CharField(blank=True, max_length=12)),
                (
                    "pair_count",
                    models.PositiveIntegerField(
                        default=0, help_text="Pairs that it is to have an answer for."
                    ),
                ),
                (
                    "answered_count",
                    models.PositiveIntegerField(default=0, help_text="Pre-labels that were asked for."),
                ),
                (
                    "cached_count",
                    models.PositiveIntegerField(default=0, help_text="Known beforehand, and not paid again."),
                ),
                ("failed_count", models.PositiveIntegerField(default=0)),
                (
                    "request_count",
                    models.PositiveIntegerField(default=0, help_text="Sent, repeated ones included."),
                ),
                ("input_tokens", models.PositiveBigIntegerField(default=0)),
                ("output_tokens", models.PositiveBigIntegerField(default=0)),
                (
                    "cost",
                    models.DecimalField(
                        decimal_places=10,
                        default=0,
                        help_text="By the usage that the server reported.",
                        max_digits=20,
                    ),
                ),
                (
                    "uncertain_cost",
                    models.DecimalField(
                        decimal_places=10,
                        default=0,
                        help_text="At most, for requests whose answer never came; counts for the cap.",
                        max_digits=20,
                    ),
                ),
                (
                    "dialect",
                    models.JSONField(default=dict, help_text="What the server turned out not to take."),
                ),
                (
                    "batches",
                    models.JSONField(
                        default=list, help_text="Of the Batch interface: handed in and not fetched."
                    ),
                ),
                (
                    "worker",
                    models.CharField(blank=True, help_text="Host and process that does it.", max_length=300),
                ),
                (
                    "seen_at",
                    models.DateTimeField(
                        blank=True, help_text="When the worker last said that it is.", null=True
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "prelabeler",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="jobs",
                        to="labeling.prelabeler",
                    ),
                ),
                (
                    "queue",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="prelabel_jobs",
                        to="labeling.queue",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
            },
        ),
        migrations.CreateModel(
            name="PrelabelFailure",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "reason",
                    models.CharField(
                        choices=[
                            ("refused", "the model refused"),
                            ("filtered", "the server's filter stopped it"),
                            ("truncated", "the answer was cut off"),
                            ("malformed", "the answer could not be read"),
                            ("rate_limit", "too many requests, again and again"),
                            ("server", "the server failed"),
                            ("time_out", "no answer in time"),
                            ("connection", "the connection broke"),
                            ("too_long", "the document is too long for the model"),
                            ("no_text", "the document's text is not known"),
                        ],
                        max_length=12,
                    ),
                ),
                ("detail", models.TextField(blank=True)),
                ("attempts", models.PositiveIntegerField(default=0, help_text="Requests, over all passes.")),
                (
                    "cost",
                    models.DecimalField(
                        decimal_places=10,
                        default=0,
                        help_text="Of answers that were paid and not usable.",
                        max_digits=20,
                    ),
                ),
                ("document_version", models.PositiveIntegerField()),
                ("failed_at", models.DateTimeField()),
                (
                    "document",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="pooling.document"
                    ),
                ),
                (
                    "prelabeler",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="failures",
                        to="labeling.prelabeler",
                    ),
                ),
                (
                    "query",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="pooling.query",
                    ),
                ),
                (
                    "job",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="failures",
                        to="labeling.prelabeljob",
                    ),
                ),
            ],
            options={
                "ordering": ["-failed_at", "-pk"],
            },
        ),
        migrations.CreateModel(
            name="Prelabel",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "verdict",
                    models.CharField(
                        choices=[("relevant", "Relevant"), ("not_relevant", "not relevant")], max_length=12
                    ),
                ),
                (
                    "score",
                    models.FloatField(
                        blank=True, help_text="Of relevant, 0 to 1. Null: none was given.", null=True
                    ),
                ),
                (
                    "score_source",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "there is none"),
                            ("probability", "the probability of the word “relevant”"),
                            ("confidence", "the model's own word for how sure it is"),
                            ("grade", "the grade"),
                            ("classifier", "a classifier"),
                        ],
                        default="",
                        max_length=12,
                    ),
                ),
                (
                    "grade",
                    models.PositiveSmallIntegerField(
                        blank=True, help_text="0 to 3, of a graded prompt.", null=True
                    ),
                ),
                ("reasoning", models.TextField(blank=True)),
                (
                    "text_hash",
                    models.CharField(help_text="SHA-256 of title and text as they were sent.", max_length=64),
                ),
                ("document_version", models.PositiveIntegerField()),
                (
                    "answer_key",
                    models.CharField(
                        help_text="SHA-256 of all that the answer hangs on; equal keys are asked once.",
                        max_length=64,
                    ),
                ),
                ("input_tokens", models.PositiveIntegerField(default=0)),
                ("output_tokens", models.PositiveIntegerField(default=0)),
                (
                    "cost",
                    models.DecimalField(
                        decimal_places=10,
                        default=0,
                        help_text="0 where the answer was known already.",
                        max_digits=20,
                    ),
                ),
                ("created_at", models.DateTimeField()),
                (
                    "document",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="prelabels",
                        to="pooling.document",
                    ),
                ),
                (
                    "query",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="prelabels",
                        to="pooling.query",
                    ),
                ),
                (
                    "prelabeler",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="prelabels",
                        to="labeling.prelabeler",
                    ),
                ),
                (
                    "job",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="prelabels",
                        to="labeling.prelabeljob",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ModelServerKey",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("base_url", models.CharField(max_length=500)),
                ("encrypted", models.TextField()),
                ("stored_at", models.DateTimeField(auto_now=True)),
                (
                    "collection",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="model_server_keys",
                        to="pooling.collection",
                    ),
                ),
                (
                    "stored_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("collection", "base_url"), name="one_key_per_model_server"
                    )
                ],
            },
        ),
        migrations.AddConstraint(
            model_name="prelabeler",
            constraint=models.UniqueConstraint(
                fields=("collection", "source", "model", "base_url", "prompt", "prompt_hash", "options_hash"),
                name="one_prelabeler_per_way_of_asking",
            ),
        ),
        migrations.AddIndex(
            model_name="prelabelfailure",
            index=models.Index(fields=["query"], name="prelabel_failures_of_query"),
        ),
        migrations.AddConstraint(
            model_name="prelabelfailure",
            constraint=models.UniqueConstraint(
                fields=("prelabeler", "query", "document"), name="one_failure_per_prelabeler_and_pair"
            ),
        ),
        migrations.AddIndex(
            model_name="prelabel",
            index=models.Index(fields=["query", "document"], name="prelabels_of_a_pair"),
        ),
        migrations.AddIndex(
            model_name="prelabel",
            index=models.Index(fields=["answer_key"], name="prelabels_by_answer"),
        ),
        migrations.AddConstraint(
            model_name="prelabel",
            constraint=models.UniqueConstraint(
                fields=("prelabeler", "query", "document"), name="one_prelabel_per_prelabeler_and_pair"
            ),
        ),
    ]
