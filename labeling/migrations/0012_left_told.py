"""What annotators were told to be left for them, which stands for a while."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("labeling", "0011_prior_scores"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="LeftTold",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("left", models.PositiveIntegerField()),
                ("answers", models.PositiveIntegerField()),
                ("told_at", models.DateTimeField()),
                (
                    "annotator",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "queue",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="labeling.queue",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("queue", "annotator"), name="left_told_once")
                ],
            },
        ),
    ]
