"""Pairs shown again to who judged them: items and verdicts that point at the verdict they repeat."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("labeling", "0005_adaptive_redundancy"),
    ]

    operations = [
        migrations.AddField(
            model_name="queue",
            name="repeat_share",
            field=models.FloatField(default=0, help_text="Of items, a person's own earlier ones again."),
        ),
        migrations.AddField(
            model_name="judgmentevent",
            name="repeats",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                help_text="The same person's verdict on the pair before it was shown again; "
                "this one never counts.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="repeated_by",
                to="labeling.judgmentevent",
            ),
        ),
        migrations.AddIndex(
            model_name="judgmentevent",
            index=models.Index(
                condition=models.Q(("repeats__isnull", False)),
                fields=["queue", "annotator"],
                name="answers_to_repeats",
            ),
        ),
        migrations.AddField(
            model_name="item",
            name="repeats",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                help_text="The verdict whose pair is shown to its author again.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="labeling.judgmentevent",
            ),
        ),
        migrations.RemoveConstraint(model_name="item", name="a_pair_once_per_queue"),
        migrations.AddConstraint(
            model_name="item",
            constraint=models.UniqueConstraint(
                condition=models.Q(("repeats__isnull", True)),
                fields=("queue", "query", "document"),
                name="a_pair_once_per_queue",
            ),
        ),
        migrations.AlterField(
            model_name="item",
            name="state",
            field=models.CharField(
                choices=[
                    ("open", "Open"),
                    ("done", "Done"),
                    ("adjudication", "Adjudication"),
                    ("gold", "Gold"),
                    ("aside", "Aside"),
                    ("repeat", "Repeat"),
                ],
                default="open",
                max_length=12,
            ),
        ),
        migrations.AlterField(
            model_name="bookmark",
            name="handed_out",
            field=models.PositiveIntegerField(
                default=0, help_text="Items leased and not returned, where the queue hides others among them."
            ),
        ),
    ]
