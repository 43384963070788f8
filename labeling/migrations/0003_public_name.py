from django.db import migrations, models


def name_queues(apps, schema_editor):
    """Queues that are called after their pool, or were drawn by us, get a number; all others keep their name."""
    queues = apps.get_model("labeling", "Queue")._base_manager
    numbers = {}
    rows = queues.order_by("pk").values_list("pk", "collection", "name", "pool__name", "pool__strategy")
    for key, collection, name, pool, strategy in rows:
        numbers[collection] = numbers.get(collection, 0) + 1
        is_ours = name == pool or strategy in ("deciding", "search", "verification", "strata", "imported")
        queues.filter(pk=key).update(public_name=f"Queue {numbers[collection]}" if is_ours else name)


class Migration(migrations.Migration):
    dependencies = [("labeling", "0002_dealt_places")]

    operations = [
        migrations.AddField(
            model_name="queue",
            name="public_name",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="What annotators read: it tells nothing of samples and runs.",
                max_length=200,
            ),
        ),
        migrations.RunPython(name_queues, migrations.RunPython.noop),
    ]
