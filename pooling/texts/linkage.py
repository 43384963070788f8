"""Groups by complete linkage: every two members of a group are alike, so that no chain joins what differs.

By chains of nearest neighbours (Murtagh, "A survey of recent advances in hierarchical clustering algorithms",
1983): two groups that are each other's nearest become one, whatever else does.
"""

from __future__ import annotations

from pooling.heavy import np, sparse
from pooling.texts.similar_pairs import AlikePairs


def complete_linkage(count: int, pairs: AlikePairs) -> list[list[int]]:
    """Groups of two or more of the numbers below `count`, each rising, by their first members.

    Two groups are as alike as their least alike members, and become one while all pairs of their members are
    among `pairs`. Of equally near groups the one with the lowest member is taken.

    >>> import numpy as np
    >>> chain = AlikePairs(np.array([0, 1]), np.array([1, 2]), np.array([0.9, 0.8]))
    >>> complete_linkage(3, chain)
    [[0, 1]]
    """
    whole, pairs = _whole(count, pairs)
    # Of each group, under its first member: the groups that it can become one with, and how alike they are.
    near: list[dict[int, float]] = [{} for _ in range(count)]
    for first, second, jaccard in zip(*(one.tolist() for one in pairs), strict=True):
        near[first][second] = near[second][first] = jaccard
    members = [[one] for one in range(count)]
    waiting = list(reversed(range(count)))
    while waiting:
        chain = [waiting.pop()]
        while chain:
            groups = near[chain[-1]]
            if not groups:
                chain.pop()
                continue
            nearest = max(groups.values())
            if len(chain) > 1 and groups.get(chain[-2]) == nearest:
                joined = _join(near, members, *sorted((chain.pop(), chain.pop())))
                waiting.append(joined)
            else:
                chain.append(min(group for group, jaccard in groups.items() if jaccard == nearest))
    return sorted([*whole, *(sorted(group) for group in members if len(group) > 1)])


def _whole(count: int, pairs: AlikePairs) -> tuple[list[list[int]], AlikePairs]:
    """Sets of which every two are alike and none is like another: groups at once, which joined one by one
    would take the cube of their size. And the pairs of all others."""
    links = sparse.csr_matrix((np.ones(len(pairs.first)), (pairs.first, pairs.second)), shape=(count, count))
    _, component = sparse.csgraph.connected_components(links, directed=False)
    size = np.bincount(component)
    linked = np.bincount(component[pairs.first], minlength=len(size))
    is_whole = (size > 1) & (linked == size * (size - 1) // 2)
    rows = np.flatnonzero(is_whole[component])
    order = rows[np.argsort(component[rows], kind="stable")]
    ends = np.flatnonzero(np.diff(component[order], append=-1)) + 1
    groups = [part.tolist() for part in np.split(order, ends)[:-1]]
    is_left = ~is_whole[component[pairs.first]]
    return groups, AlikePairs(*(column[is_left] for column in pairs))


def _join(near: list[dict[int, float]], members: list[list[int]], first: int, second: int) -> int:
    """Two groups as one, under the first; near it is what is near both, and as alike as the less alike."""
    one, other = near[first], near[second]
    near[second] = {}
    members[first] += members[second]
    members[second] = []
    near[first] = {group: min(one[group], other[group]) for group in one.keys() & other.keys()}
    for group in one.keys() - {second}:
        del near[group][first]
    for group in other.keys() - {first}:
        del near[group][second]
    for group, jaccard in near[first].items():
        near[group][first] = jaccard
    return first
