from django.db import migrations, models


def keep_payer(apps, schema_editor):
    """Passes that began on the site's key may be resumed on it."""
    jobs = apps.get_model("labeling", "PrelabelJob")._base_manager
    jobs.exclude(site_key_month=None).update(on_site_key=True)


class Migration(migrations.Migration):
    dependencies = [("labeling", "0003_public_name")]

    operations = [
        migrations.AddField(
            model_name="prelabeljob",
            name="on_site_key",
            field=models.BooleanField(
                default=False,
                help_text="Whether the site paid when it last began. Another's pass never moves there.",
            ),
        ),
        migrations.RunPython(keep_payer, migrations.RunPython.noop),
        migrations.RemoveField(model_name="prelabeljob", name="site_key_month"),
        migrations.RemoveField(model_name="prelabeljob", name="site_key_from"),
        migrations.RemoveField(model_name="prelabeljob", name="uses_batches"),
        migrations.RemoveField(model_name="prelabeljob", name="batches"),
    ]
