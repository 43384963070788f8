"""`make map`: rooms and arrows, drawn from the code, and the tables of rooms in the architecture page.

An arrow leads from a room to one that it imports. Where a room is reached over another one, its own arrow is
left out. Layers as in Sugiyama, Tagawa and Toda (1981): a room stands above what it imports, long arrows get
a lane in every layer that they pass, and lanes and rooms are put where their neighbours are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise

from docs.rooms import PACKAGES, ROOT, Room, every_import, module_of, place_of, rooms_of

PICTURE = ROOT / "static" / "map.svg"
PAGE = ROOT / "templates" / "docs" / "architecture.md"

Place = tuple[int, int]

# In points: a box, the room a passing arrow takes, and the distances between them.
BOX_HEIGHT, LAYER_HEIGHT, PACKAGE_GAP = 28, 58, 34
LETTER, PADDING, LANE, GAP = 7.6, 11, 8, 16
MARGIN, LABEL = 16, 24
SWEEPS = 24
COLOURS = {
    "pooling": ("#e2f0f5", "#0b5c7a"),
    "labeling": ("#e3f3e8", "#1c6b3c"),
    "evaluation": ("#fdf2d6", "#7a5200"),
    "soundings": ("#f1efe9", "#545f66"),
}


def arrows() -> set[tuple[Place, Place]]:
    """(importing room, imported room), without those that lead over a third room as well."""
    imported: dict[Place, set[Place]] = {}
    for found in every_import():
        here, there = place_of(found.path), place_of(module_of(found.name) or "")
        if here and there and here != there and not found.for_types:
            imported.setdefault(here, set()).add(there)
    reached: dict[Place, set[Place]] = {}
    for room in sorted(imported):  # a room imports only rooms that stand before it
        reached[room] = imported[room].union(*(reached.get(other, set()) for other in imported[room]))
    return {
        (room, other)
        for room, others in imported.items()
        for other in others
        if not any(other in reached.get(between, set()) for between in others)
    }


@dataclass(eq=False)
class Node:
    """A room, or the lane of an arrow through one layer; `x` is its middle."""

    width: float
    package: str
    room: Room | None = None
    x: float = 0.0
    below: list[Node] = field(default_factory=list)
    above: list[Node] = field(default_factory=list)


def layers_of(edges: set[tuple[Place, Place]]) -> tuple[list[list[Node]], list[list[Node]]]:
    """The layers from the bottom up, and for each arrow its nodes from above to below."""
    depth: dict[Place, int] = {}
    start = 0
    layer_packages: list[str] = []
    for number, package in enumerate(PACKAGES):
        for index in range(len(rooms_of(package))):
            own = [depth[to] + 1 for of, to in edges if of == (number, index) and to[0] == number]
            depth[number, index] = max(own, default=start)
        start = 1 + max(depth.values())
        layer_packages += [package] * (start - len(layer_packages))
    layers: list[list[Node]] = [[] for _ in layer_packages]
    nodes = {}
    for place in sorted(depth):
        room = rooms_of(PACKAGES[place[0]])[place[1]]
        nodes[place] = Node(LETTER * len(room.name) + 2 * PADDING, room.package, room)
        layers[depth[place]].append(nodes[place])
    paths = []
    for of, to in sorted(edges):
        lanes = [Node(LANE, layer_packages[at]) for at in range(depth[of] - 1, depth[to], -1)]
        for at, lane in zip(range(depth[of] - 1, depth[to], -1), lanes, strict=True):
            layers[at].append(lane)
        paths.append([nodes[of], *lanes, nodes[to]])
        for upper, lower in pairwise(paths[-1]):
            upper.below.append(lower)
            lower.above.append(upper)
    return layers, paths


def arrange(layers: list[list[Node]]) -> None:
    """Order each layer by where its neighbours are, and put each node as near to them as it fits."""
    for layer in layers:
        spread(layer, [0.0] * len(layer))
    for sweep in range(SWEEPS):
        downwards = sweep % 2 == 0
        for layer in layers[::-1] if downwards else layers:
            wanted = {node: middle(node.above if downwards else node.below, node.x) for node in layer}
            layer.sort(key=lambda node: wanted[node])
            spread(layer, [wanted[node] for node in layer])
    for _ in range(SWEEPS):
        for layer in layers:
            spread(layer, [middle([*node.above, *node.below], node.x) for node in layer])


def middle(neighbours: Sequence[Node], otherwise: float) -> float:
    return sum(node.x for node in neighbours) / len(neighbours) if neighbours else otherwise


def spread(layer: Sequence[Node], wanted: Sequence[float]) -> None:
    """Give the nodes, in this order, the places nearest to those wanted (least squares) that do not overlap.

    With the distances taken off, this is the nearest sequence that does not fall: neighbours that would are
    merged into their mean (Ayer et al., 1955).
    """
    offsets = [0.0]
    for left, right in pairwise(layer):
        offsets.append(offsets[-1] + (left.width + right.width) / 2 + GAP)
    blocks: list[tuple[float, int]] = []
    for value, offset in zip(wanted, offsets, strict=False):
        blocks.append((value - offset, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (upper, many), (lower, few) = blocks.pop(), blocks.pop()
            blocks.append(((lower * few + upper * many) / (few + many), few + many))
    flat = [mean for mean, count in blocks for _ in range(count)]
    for node, value, offset in zip(layer, flat, offsets, strict=False):
        node.x = value + offset


def picture() -> str:
    """The map as SVG."""
    layers, paths = layers_of(arrows())
    arrange(layers)
    left = min(node.x - node.width / 2 for layer in layers for node in layer) - MARGIN
    right = max(node.x + node.width / 2 for layer in layers for node in layer) + MARGIN
    packages = [layer[0].package for layer in layers]
    tops = [0.0] * len(layers)
    y = MARGIN + LABEL
    bands = []
    for at in range(len(layers) - 1, -1, -1):
        if at + 1 < len(layers) and packages[at] != packages[at + 1]:
            y += PACKAGE_GAP
        tops[at] = y
        y += LAYER_HEIGHT
    height = y - LAYER_HEIGHT + BOX_HEIGHT + MARGIN
    for package in PACKAGES:
        rows = [tops[at] for at, name in enumerate(packages) if name == package]
        bands.append(band(package, min(rows) - LABEL, max(rows) + BOX_HEIGHT + 10, right - left))
    row = {node: tops[at] for at, layer in enumerate(layers) for node in layer}
    drawn = [arrow(path, row, left) for path in paths]
    boxes = [box(node, row[node], left) for layer in layers for node in layer if node.room]
    width = right - left
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'width="{width:.0f}" height="{height:.0f}" font-family="system-ui, sans-serif" font-size="13">',
            "<title>The rooms of Soundings; arrows lead to what a room imports</title>",
            f"<defs>{''.join(map(head, PACKAGES))}</defs>",
            f'<rect width="{width:.0f}" height="{height:.0f}" rx="8" fill="#ffffff"/>',
            *bands,
            *drawn,
            *boxes,
            "</svg>",
            "",
        ]
    )


def head(package: str) -> str:
    """The head of a package's arrows."""
    return (
        f'<marker id="{package}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" '
        f'orient="auto"><path d="M0 0.5 L8 4 L0 7.5 z" fill="{COLOURS[package][1]}"/></marker>'
    )


def band(package: str, top: float, bottom: float, width: float) -> str:
    fill, ink = COLOURS[package]
    return (
        f'<rect x="6" y="{top:.0f}" width="{width - 12:.0f}" height="{bottom - top:.0f}" rx="8" '
        f'fill="{fill}"/>'
        f'<text x="16" y="{top + 17:.0f}" fill="{ink}" font-weight="bold">{package}</text>'
    )


def box(node: Node, top: float, left: float) -> str:
    assert node.room is not None
    ink = COLOURS[node.package][1]
    dashes = ' stroke-dasharray="4 3"' if node.room.is_pure else ""
    x = node.x - node.width / 2 - left
    return (
        f'<g><title>{escape(node.room.purpose)}</title><rect x="{x:.1f}" y="{top:.0f}" '
        f'width="{node.width:.1f}" height="{BOX_HEIGHT}" rx="6" fill="#ffffff" stroke="{ink}"{dashes}/>'
        f'<text x="{node.x - left:.1f}" y="{top + 18:.0f}" text-anchor="middle" fill="#1d2327">'
        f"{node.room.name}</text></g>"
    )


def arrow(path: Sequence[Node], row: dict[Node, float], left: float) -> str:
    """A curve that is upright in every layer; it ends at the imported room."""
    first, last = path[0], path[-1]
    x, y = first.x - left, row[first] + BOX_HEIGHT
    parts = [f"M{x:.1f} {y:.0f}"]
    for node in path[1:]:
        to_x, to_y = node.x - left, row[node] - (1 if node is last else 0)
        bend = (to_y - y) / 2
        parts.append(f"C{x:.1f} {y + bend:.0f} {to_x:.1f} {to_y - bend:.0f} {to_x:.1f} {to_y:.0f}")
        if node is not last:
            to_y += BOX_HEIGHT
            parts.append(f"V{to_y:.0f}")
        x, y = to_x, to_y
    ink = COLOURS[first.package][1]
    faint = "" if first.package == last.package else ' stroke-opacity="0.55"'
    return (
        f'<path d="{" ".join(parts)}" fill="none" stroke="{ink}"{faint} marker-end="url(#{first.package})"/>'
    )


def table(package: str) -> str:
    """The rooms of a package as Markdown, lowest first."""
    rows = [
        f"| `{room.name}` | {room.purpose[0].upper()}{room.purpose[1:]}{' (pure)' if room.is_pure else ''} |"
        for room in rooms_of(package)
    ]
    return "\n".join(["| room | what is in it |", "| --- | --- |", *rows])


def with_tables(page: str) -> str:
    """The page with the table of each package below its heading."""
    for package in PACKAGES:
        page, changed = re.subn(
            rf"(?<=^### `{package}`\n\n)\|.*?\n(?=\n)", table(package) + "\n", page, flags=re.M | re.S
        )
        if changed != 1:
            raise ValueError(f"{PAGE.name} needs a heading ### `{package}` followed by a table.")
    return page


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
