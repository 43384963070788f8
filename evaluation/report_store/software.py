"""Which versions computed a number, to be stored beside it."""

from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("soundings", "polars", "numpy")


def software_versions() -> dict[str, str]:
    """By package, this one first; `checkout` where it is not installed."""
    return {package: _version(package) for package in PACKAGES}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "checkout"
