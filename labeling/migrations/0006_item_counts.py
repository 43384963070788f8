"""`labeling/items/counts.py` makes the triggers that write it, after these migrations."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("labeling", "0005_clicks")]

    operations = [
        migrations.CreateModel(
            name="ItemCount",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("queue", models.BigIntegerField(db_index=True)),
                ("is_placed", models.BooleanField(help_text="The order key is above 0.")),
                ("state", models.CharField(max_length=12)),
                ("needed", models.SmallIntegerField()),
                ("done", models.SmallIntegerField()),
                ("needed_at_least", models.SmallIntegerField()),
                ("needed_at_most", models.SmallIntegerField()),
                ("is_expecting", models.BooleanField(help_text="A pre-label lets expect a verdict.")),
                ("many", models.BigIntegerField()),
            ],
        ),
    ]
