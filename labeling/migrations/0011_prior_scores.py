"""The model whose scores the strategy of an adaptive queue starts from, and as how many runs they count."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("labeling", "0010_what_annotators_see")]

    operations = [
        migrations.AddField(
            model_name="selection",
            name="prior",
            field=models.ForeignKey(
                blank=True,
                help_text="The model whose scores the strategy starts from. Null: it starts from the runs alone.",
                null=True,
                on_delete=django.db.models.deletion.RESTRICT,
                related_name="+",
                to="labeling.prelabeler",
            ),
        ),
        migrations.AddField(
            model_name="selection",
            name="prior_votes",
            field=models.PositiveIntegerField(default=0, help_text="As how many runs its scores count then."),
        ),
    ]
