"""A row for each file that labels came from so far; apart, since PostgreSQL fills no table it is changing."""

from django.db import migrations, models


def _files_of_labels(apps, schema_editor):
    """A row for each file that labels came from so far, so that it can be taken back as well."""
    labels, files = (apps.get_model("labeling", name) for name in ("ImportedLabel", "LabelFile"))
    facts = ("collection_id", "source_name", "sha256", "imported_by_id")
    known = labels.objects.order_by(*facts).values_list(*facts).annotate(at=models.Min("imported_at"))
    for collection, name, sha256, user, at in known:
        made = files.objects.create(
            collection_id=collection, name=name, sha256=sha256, imported_by_id=user, imported_at=at
        )
        of_file = dict(zip(facts, (collection, name, sha256, user), strict=True))
        labels.objects.filter(**of_file).update(file=made)


class Migration(migrations.Migration):
    dependencies = [("labeling", "0015_label_files")]

    operations = [migrations.RunPython(_files_of_labels, migrations.RunPython.noop)]
