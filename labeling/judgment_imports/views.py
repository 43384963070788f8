"""The page that imports judgments and lists what was imported."""

from __future__ import annotations

from labeling.judgment_imports.forms import JudgmentsForm
from pooling.storage.pages import import_page

judgments_import = import_page(
    "judgments",
    JudgmentsForm,
    "labeling/judgments_import.html",
    section="queues",
    more=lambda collection: {"imports": collection.judgment_imports.select_related("imported_by")},
)
