"""One more judgment while they tie: each item has bounds, which are its need where there were none."""

from django.db import migrations, models
from django.db.models import F


def take_bounds_from_the_need(apps, schema_editor):
    apps.get_model("labeling", "Item").objects.update(needed_at_least=F("needed"), needed_at_most=F("needed"))


class Migration(migrations.Migration):
    dependencies = [
        ("labeling", "0004_prices_and_lease_times"),
    ]

    operations = [
        migrations.AddField(
            model_name="queue",
            name="most_judgments_per_item",
            field=models.PositiveSmallIntegerField(
                blank=True,
                help_text="One more while as many say relevant as not, up to so many. "
                "Null: no more for a tie.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="item",
            name="needed_at_least",
            field=models.PositiveSmallIntegerField(default=1),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="item",
            name="needed_at_most",
            field=models.PositiveSmallIntegerField(default=1),
            preserve_default=False,
        ),
        migrations.AlterField(
            model_name="item",
            name="needed",
            field=models.PositiveSmallIntegerField(
                help_text="Within these bounds, by the verdicts there are."
            ),
        ),
        migrations.RunPython(take_bounds_from_the_need, migrations.RunPython.noop, elidable=True),
    ]
