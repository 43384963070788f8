"""Values of before have no coverage: it is measured with the value."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="canaryvalue",
            name="judged",
            field=models.FloatField(help_text="judged@K over what the run retrieved.", null=True),
        ),
        migrations.AddField(
            model_name="canaryvalue",
            name="undecided",
            field=models.JSONField(
                default=list,
                help_text="Of below and the reasons, what the unjudged documents could take back.",
            ),
        ),
        migrations.AddField(
            model_name="canaryvalue",
            name="notes",
            field=models.JSONField(default=list, help_text="Sentences on ids that meet no label."),
        ),
    ]
