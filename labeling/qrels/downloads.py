"""A release as a file: in the formats of labels alone, and in those of other tools with the texts."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from typing import IO, Any

from labeling.facts.releasing import FACT_FORMATS, facts_in_words
from labeling.models import QrelsRelease
from labeling.qrels.labelled import Labelled, labelled
from labeling.qrels.options import OPTIONS, ExportOptions
from labeling.qrels.registry import EXPORTS
from labeling.qrels.releases import SIDECAR, as_json, export_release, read_release
from pooling.formats.registry import format_of, writing
from pooling.formats.sources import without_gz
from pooling.formats.wording import counted, in_a_row
from pooling.formats.writing import replaced, write_pieces
from pooling.interface.problems import InputError
from pooling.options import Option, chosen
from pooling.storage.storing import disk_errors_named

PIECE = 2**20
NO_OPTIONS = ExportOptions()


def format_of_file(path: Path) -> str:
    """The format of labels that a file's name asks for: TREC where its suffix says none."""
    name = format_of(without_gz(path.name)).name
    return name if name in writing("qrels") else "trec"


def export_options(
    format: str, values: Mapping[str, Any], *, as_typed: Callable[[Option], str] = attrgetter("name")
) -> ExportOptions:
    """The options of a format, of those that a form, a call or a command has; `InputError` for one that is
    needed and absent, and for one that the format does not read. as_typed: what people know an option by."""
    given = chosen(ExportOptions, values)
    read = EXPORTS[format].options if format in EXPORTS else ()
    for name, value in given.items():
        if name not in read and value != OPTIONS[name].default:
            problem = f"“{as_typed(OPTIONS[name])}” is no option of {format}. Leave it out."
            raise InputError(problem, field=name)
    for name in EXPORTS[format].required if format in EXPORTS else ():
        if name not in given:
            about = OPTIONS[name].help.removesuffix(".")
            problem = f"{format} needs the option “{as_typed(OPTIONS[name])}” "
            raise InputError(f"{problem}({about[:1].lower()}{about[1:]}).", field=name)
    return ExportOptions(**given)


def release_content(
    release: QrelsRelease, format: str, options: ExportOptions = NO_OPTIONS
) -> bytes | IO[bytes]:
    """The release in a format; one with texts is an open file. `InputError` for what it cannot hold."""
    if format not in EXPORTS:
        return export_release(release, format)
    return EXPORTS[format].content(_labelled(release, options))


def labels_in_words(release: QrelsRelease, format: str, options: ExportOptions = NO_OPTIONS) -> str:
    if format in FACT_FORMATS:
        return facts_in_words(release, format)
    pairs, without = release.pair_count, int(release.sidecar["counts"].get("pooled_not_judged", 0))
    if format not in EXPORTS:
        words = counted(pairs - without, "label")
        return f"{words} and {counted(without, 'pair')} as -1 (pooled, not judged)" if without else words
    labels = _labelled(release, options)
    words, left_out = EXPORTS[format].words(labels)
    if without:
        left_out.append(f"{without:,} pooled and not judged")
    if gone := pairs - without - labels.frame.height:
        left_out.append(f"{gone:,} of deleted queries and documents")
    return f"{words}, without {in_a_row(left_out)}," if left_out else words


def _labelled(release: QrelsRelease, options: ExportOptions = NO_OPTIONS) -> Labelled:
    frame = read_release(release)
    return labelled(release.collection, frame, options, release=release.name, sidecar=release.sidecar)


def export_file(
    release: QrelsRelease, path: Path, format: str = "trec", options: ExportOptions = NO_OPTIONS
) -> Path:
    """Write the release to `path` and its sidecar next to it, as `<path>.meta.json`; returns the sidecar's
    path.

    Each file appears whole or not at all; a path that ends in .gz becomes a gzip file.
    """
    content = release_content(release, format, options)
    sidecar = path.with_name(path.name + SIDECAR.suffix)
    with disk_errors_named():
        write_pieces(path, _pieces(content))
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        export = {"file": path.name, "format": format, "sha256": sha256}
        with replaced(sidecar) as temporary:
            temporary.write_bytes(as_json({**release.sidecar, "export": export}))
    return sidecar


def _pieces(content: bytes | IO[bytes]) -> Iterator[bytes]:
    if isinstance(content, bytes):
        yield content
        return
    with content:
        while piece := content.read(PIECE):
            yield piece
