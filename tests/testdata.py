"""Where the real collections lie: beside the checkout, or where SOUNDINGS_TEST_DATA says."""

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("SOUNDINGS_TEST_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))

needs_data = pytest.mark.skipif(
    not DATA.is_dir(),
    reason=f"the real collections are not at {DATA}; set SOUNDINGS_TEST_DATA to their folder",
)
