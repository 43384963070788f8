"""Soundings: ground truth for retrieval, and Recall@K with it. The version is written here and nowhere else.

What is named here works in a notebook, without a site or a database, and is loaded on first use.

The rooms of the site around the three stages, lowest first: a room imports only rooms that stand before it.

- client: a site's HTTP interface from Python (pure)
- installation: environment variables, data folder, tables, the first account, and backups
- sign_in: a company's provider, roles by its groups, a second factor, and where people are signed in
- accounts: sign-in, passwords, tokens, members and invitations, and the letters about them
- trail: who did what, from where: written, shown, exported and checked
- pages: home, the overview of a collection, the guide, errors
- demo: the example collection, taken the whole way
- serving: gunicorn and the background workers, each kept by one small process; logs, figures and health
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evaluation.comparisons.comparing import compare
    from evaluation.reports.notebook import evaluate
    from evaluation.scoring.arrays import recall_at_k
    from pooling.formats.qrels import read_qrels
    from pooling.formats.runs import read_run
    from soundings.client.client import Client
    from soundings.in_memory import pool, run_of, simulate

__version__ = "0.1.0"

__all__ = [
    "Client",
    "__version__",
    "compare",
    "evaluate",
    "pool",
    "read_qrels",
    "read_run",
    "recall_at_k",
    "run_of",
    "simulate",
]

_HOMES = {
    "Client": "soundings.client.client",
    "compare": "evaluation.comparisons.comparing",
    "evaluate": "evaluation.reports.notebook",
    "pool": "soundings.in_memory",
    "read_qrels": "pooling.formats.qrels",
    "read_run": "pooling.formats.runs",
    "recall_at_k": "evaluation.scoring.arrays",
    "run_of": "soundings.in_memory",
    "simulate": "soundings.in_memory",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'soundings' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _refuse_hidden_packages() -> None:
    """ImportError when Python would load a file of somebody else under the name of a package of ours."""
    ours = Path(__file__).resolve().parent.parent
    for package in ("pooling", "labeling", "evaluation"):
        spec = find_spec(package)
        origin = Path(spec.origin).resolve() if spec and spec.origin else None
        if origin and origin != ours / package / "__init__.py":
            raise ImportError(
                f"{origin} hides the package {package} of Soundings: "
                "rename it, or start Python in another folder."
            )


_refuse_hidden_packages()
