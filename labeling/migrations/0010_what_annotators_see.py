"""Whether annotators see pre-labels, what each has seen, and second opinions where a verdict contradicts one."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import labeling.models.queues


class Migration(migrations.Migration):
    dependencies = [
        ("labeling", "0009_prelabel_passes"),
        ("pooling", "0006_pool_depths"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="item",
            name="expected",
            field=models.CharField(
                blank=True,
                choices=[
                    ("relevant", "Relevant"),
                    ("not_relevant", "not relevant"),
                    ("cannot_judge", "can't judge"),
                ],
                default="",
                help_text="The verdict that a confident pre-label lets expect, where a contradiction asks for more.",
                max_length=12,
            ),
        ),
        migrations.AddField(
            model_name="judgmentevent",
            name="prelabel_seen",
            field=models.CharField(
                choices=[
                    ("never", "Never"),
                    ("before", "before the verdict"),
                    ("after", "after the verdict"),
                ],
                default="never",
                help_text="By what had been handed out to the person.",
                max_length=6,
            ),
        ),
        migrations.AddField(
            model_name="judgmentevent",
            name="prelabeler",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                help_text="The model and prompt whose pre-label was seen.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="labeling.prelabeler",
            ),
        ),
        migrations.AddField(
            model_name="queue",
            name="blind_seed",
            field=models.BigIntegerField(
                default=labeling.models.queues.draw_seed, help_text="Draws the control arm."
            ),
        ),
        migrations.AddField(
            model_name="queue",
            name="blind_share",
            field=models.FloatField(default=0.1, help_text="Of pairs, the control arm: blind in every mode."),
        ),
        migrations.AddField(
            model_name="queue",
            name="prelabel_mode",
            field=models.CharField(
                choices=[
                    ("blind", "never"),
                    ("reveal", "after the verdict, where the two differ"),
                    ("assist", "before the verdict"),
                ],
                default="blind",
                help_text="Whether annotators see pre-labels.",
                max_length=10,
            ),
        ),
        migrations.AddField(
            model_name="queue",
            name="prelabeler",
            field=models.ForeignKey(
                blank=True,
                help_text="Whose pre-labels are shown, or ask for second opinions.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="queues",
                to="labeling.prelabeler",
            ),
        ),
        migrations.AddField(
            model_name="queue",
            name="second_opinion_from",
            field=models.FloatField(
                blank=True,
                help_text="A verdict against a pre-label so sure asks for one judgment more. Null: none does.",
                null=True,
            ),
        ),
        migrations.CreateModel(
            name="PrelabelSight",
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
                        choices=[
                            ("relevant", "Relevant"),
                            ("not_relevant", "not relevant"),
                            ("cannot_judge", "can't judge"),
                        ],
                        help_text="As it was shown.",
                        max_length=12,
                    ),
                ),
                ("seen_at", models.DateTimeField()),
                (
                    "annotator",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "document",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="pooling.document",
                    ),
                ),
                (
                    "prelabeler",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
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
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("query", "document", "annotator", "prelabeler"),
                        name="one_sight_per_person_and_prelabel",
                    )
                ],
            },
        ),
    ]
