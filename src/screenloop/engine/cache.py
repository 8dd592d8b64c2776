"""The prefix cache: keys and values of token sequences in a radix tree, bounded by tokens.

A sequence shares its longest common prefix with every other one, whichever Episode it came from.
What was used longest ago goes first, from the ends of the sequences. The tree knows nothing of
models: a key is one integer a token, where a picture's tokens are told apart by the picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from screenloop.types import Struct

Layers = tuple[tuple[Tensor, Tensor], ...]
"""Keys and values of one sequence, a pair a layer, each `[heads, tokens, dim]`."""


def cut(layers: Layers, start: int, end: int) -> Layers:
    """Return the part for tokens `start` to `end`, in memory of its own."""
    return tuple((k[:, start:end].clone(), v[:, start:end].clone()) for k, v in layers)


def join(parts: Sequence[Layers]) -> Layers:
    """Return parts that follow one another as one."""
    if len(parts) == 1:
        return parts[0]
    return tuple(
        (torch.cat([k for k, _ in layer], dim=1), torch.cat([v for _, v in layer], dim=1))
        for layer in zip(*parts, strict=True)
    )


def length_of(layers: Layers) -> int:
    """Return how many tokens the part holds."""
    return layers[0][0].shape[1]


class Match(Struct, frozen=True, kw_only=True):
    """The longest prefix that the cache holds; `layers` is `None` when `length` is 0."""

    length: int = 0
    layers: Layers | None = None


@dataclass(eq=False)
class _Node:
    keys: tuple[int, ...]
    layers: Layers
    parent: _Node | None
    used: int
    children: dict[int, _Node] = field(default_factory=dict)


class PrefixCache:
    """Keeps at most `max_tokens` tokens of keys and values."""

    def __init__(self, max_tokens: int) -> None:
        self.max_tokens = max_tokens
        self.tokens = 0
        """How many are held now."""
        self.evicted = 0
        """How many were let go since the start, to keep the bound."""
        self._root = _Node(keys=(), layers=(), parent=None, used=0)
        self._clock = 0

    def length(self, keys: Sequence[int]) -> int:
        """Return the length of the longest prefix held; changes nothing."""
        return sum(shared for _, shared in self._walk(keys))

    def match(self, keys: Sequence[int]) -> Match:
        path = self._walk(keys)
        if not path:
            return Match()
        self._touch([node for node, _ in path])
        parts = [
            node.layers if shared == len(node.keys) else cut(node.layers, 0, shared)
            for node, shared in path
        ]
        return Match(length=sum(shared for _, shared in path), layers=join(parts))

    def insert(self, keys: Sequence[int], start: int, layers: Layers) -> None:
        """Keep a sequence whose tokens from `start` on are in `layers`.

        Nothing happens when the first `start` tokens are no longer here to build on.
        """
        path = self._walk(keys)
        known = sum(shared for _, shared in path)
        if known < start:
            return
        if path and path[-1][1] < len(path[-1][0].keys):
            self._split(*path[-1])
        node = path[-1][0] if path else self._root
        self._touch([node for node, _ in path])
        if known < len(keys):
            part = cut(layers, known - start, len(keys) - start)
            leaf = _Node(keys=tuple(keys[known:]), layers=part, parent=node, used=self._clock)
            node.children[keys[known]] = leaf
            self.tokens += len(leaf.keys)
        self._shrink()

    def clear(self) -> None:
        """Forget everything: the weights that it came from are gone."""
        self._root.children.clear()
        self.tokens = 0

    # ---- parts -----------------------------------------------------------------------------

    def _walk(self, keys: Sequence[int]) -> list[tuple[_Node, int]]:
        """Return the nodes along the prefix, each with how many of its tokens belong to it."""
        path: list[tuple[_Node, int]] = []
        node, at = self._root, 0
        while at < len(keys) and keys[at] in node.children:
            node = node.children[keys[at]]
            shared = common_prefix(node.keys, keys[at : at + len(node.keys)])
            path.append((node, shared))
            at += shared
            if shared < len(node.keys):
                break
        return path

    def _touch(self, nodes: Sequence[_Node]) -> None:
        self._clock += 1
        for node in nodes:
            node.used = self._clock

    def _split(self, node: _Node, at: int) -> None:
        """Let a node end at `at`; the rest becomes its child."""
        rest = _Node(
            keys=node.keys[at:],
            layers=cut(node.layers, at, len(node.keys)),
            parent=node,
            used=node.used,
            children=node.children,
        )
        for child in rest.children.values():
            child.parent = rest
        node.keys, node.layers = node.keys[:at], cut(node.layers, 0, at)
        node.children = {rest.keys[0]: rest}

    def _shrink(self) -> None:
        while self.tokens > self.max_tokens:
            leaf = min(self._leaves(self._root), key=lambda node: node.used)
            assert leaf.parent is not None
            del leaf.parent.children[leaf.keys[0]]
            self.tokens -= len(leaf.keys)
            self.evicted += len(leaf.keys)

    def _leaves(self, node: _Node) -> list[_Node]:
        if not node.children:
            return [node]
        return [leaf for child in node.children.values() for leaf in self._leaves(child)]


def common_prefix(one: Sequence[int], two: Sequence[int]) -> int:
    """Return how many elements both begin with."""
    if one == two:
        return len(one)
    return next(
        (i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b),
        min(len(one), len(two)),
    )
