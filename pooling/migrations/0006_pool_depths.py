from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("pooling", "0005_job_cancelling"),
    ]

    operations = [
        migrations.AddField(
            model_name="pool",
            name="depths",
            field=models.JSONField(
                blank=True, default=dict, help_text="Runs, by name, with a depth of their own."
            ),
        ),
    ]
