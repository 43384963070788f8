"""Versions of the software behind a number, to be stored next to it."""

from importlib.metadata import PackageNotFoundError, version

# By package the distribution that installs it.
PACKAGES = {"soundings": "soundings-ir", "polars": "polars", "numpy": "numpy"}


def software_versions() -> dict[str, str]:
    """By package, this one first; `checkout` where it is not installed."""
    return {package: _version(distribution) for package, distribution in PACKAGES.items()}


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "checkout"
