"""Passes of pre-labels: how long answers took, how far the journal is stored, one pass at a time."""

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("labeling", "0008_prelabels"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="prelabeljob",
            name="answer_seconds",
            field=models.FloatField(default=0, help_text="That its answers took, added up."),
        ),
        migrations.AddField(
            model_name="prelabeljob",
            name="journal_offset",
            field=models.PositiveBigIntegerField(
                default=0, help_text="Bytes of the journal of answers that are in the database."
            ),
        ),
        migrations.AddConstraint(
            model_name="prelabeljob",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state__in", ("queued", "running"))),
                fields=("prelabeler",),
                name="one_pass_at_a_time",
            ),
        ),
    ]
