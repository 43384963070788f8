import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("labeling", "0001_initial"),
        ("pooling", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Report",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                (
                    "options",
                    models.JSONField(
                        default=dict,
                        help_text="Cutoffs, measures, conventions, seed, versions, and checksums of what was measured.",
                    ),
                ),
                (
                    "result",
                    models.JSONField(
                        default=dict, help_text="The object that `evaluate --format json` prints."
                    ),
                ),
                ("per_query", models.FileField(max_length=300, upload_to="reports/")),
                ("relevant", models.FileField(max_length=300, upload_to="reports/")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "collection",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reports",
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
                (
                    "release",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="reports",
                        to="labeling.qrelsrelease",
                    ),
                ),
                ("runs", models.ManyToManyField(related_name="reports", to="pooling.run")),
            ],
            options={
                "ordering": ["-created_at", "-pk"],
            },
        ),
    ]
