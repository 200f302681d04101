"""Sequences and paths in plain Python: every walk is listed, nothing is shared or pruned."""

from itertools import groupby


class ReferenceGraph:
    """`max_degree`, `hubs` and `mediators` are those of KnowledgeGraph.sequences."""

    def __init__(self, triples, max_degree=None, hubs="sample", mediators=()):
        self.triples = sorted(set(triples), key=lambda t: [name.encode() for name in t])
        self.entities = _sorted_names(name for h, _, t in self.triples for name in (h, t))
        self.relations = _sorted_names(r for _, r, _ in self.triples)
        escaped = ["\\" + r if r[0] in "^\\" else r for r in self.relations]
        self.symbols = escaped + ["^" + r for r in escaped]
        self.max_degree, self.hubs, self.mediators = max_degree, hubs, set(mediators)

    def edges(self, entity, inverse):
        """(symbol, next entity) of every edge at `entity`, as ids."""
        for h, r, t in self.triples:
            head, relation, tail = (
                self.entities.index(h),
                self.relations.index(r),
                self.entities.index(t),
            )
            if head == entity:
                yield relation, tail
            if inverse and tail == entity:
                yield len(self.relations) + relation, head

    def steps(self, entity, is_topic, inverse):
        """Those of the edges that a walk may follow, and whether the entity is a hub."""
        kept, is_hub = [], False
        for backward in (False, True):
            row = sorted(
                edge
                for edge in self.edges(entity, inverse)
                if (edge[0] >= len(self.relations)) == backward
            )
            if self.max_degree is None or len(row) <= self.max_degree:
                kept += row
                continue
            is_hub = True
            if self.hubs == "skip" and not is_topic:
                continue
            groups = [list(group) for _, group in groupby(row, key=lambda edge: edge[0])]
            for group in groups:
                count = min(len(group), max(1, self.max_degree // len(groups)))
                kept += [group[i * len(group) // count] for i in range(count)]
        return kept, is_hub

    def walks(self, topic, max_hops, inverse=True, return_to_topic=True):
        """All (symbols, entities, hops) of 0 to max_hops hops from an entity id."""
        mediators = self.mediators - {topic}
        steps = {e: self.steps(e, e == topic, inverse)[0] for e in range(len(self.entities))}
        level = [((), (topic,), 0)]
        found = list(level)
        while level:
            level = [
                ((*symbols, symbol), (*entities, following), reached)
                for symbols, entities, hops in level
                for reached in [hops + (entities[-1] not in mediators)]
                if reached <= max_hops
                for symbol, following in steps[entities[-1]]
                if return_to_topic or following != topic
                if not {entities[-1], following} <= mediators
            ]
            found += level
        return found

    def hubs_left(self, topic, walks, max_hops, inverse=True, only=None):
        """Hubs on which a walk stands that may go on (by a symbol in `only`, if given)."""
        found = set()
        for symbols, entities, hops in walks:
            last = entities[-1]
            if hops + (last not in self.mediators - {topic}) > max_hops:
                continue
            directions = {False, True} if inverse else {False}
            if only is not None:
                directions = {
                    sequence[len(symbols)] >= len(self.relations)
                    for sequence in only
                    if sequence[: len(symbols)] == symbols and len(sequence) > len(symbols)
                }
            for backward in directions:
                row = [
                    edge
                    for edge in self.edges(last, True)
                    if (edge[0] >= len(self.relations)) == backward
                ]
                if self.max_degree is not None and len(row) > self.max_degree:
                    found.add(last)
        return sorted(found)

    def sequences(self, topic, max_hops, beam=None, cap=100_000, inverse=False, back=True):
        """Sequences of symbol ids in order, and whether `cap` cut them."""
        mediators = self.mediators - {topic}
        ends = {}
        for symbols, entities, _ in self.walks(topic, max_hops, inverse, back):
            ends.setdefault(symbols, set()).add(entities[-1])
        del ends[()]
        kept = {()}
        result = []
        for _, group in groupby(sorted(ends, key=len), key=len):
            level = [sequence for sequence in group if sequence[:-1] in kept]
            if beam is not None:
                level.sort(
                    key=lambda s: (len(ends[s]), [self.symbols[symbol].encode() for symbol in s])
                )
                level = level[:beam]
            kept.update(level)
            result += sorted(sequence for sequence in level if ends[sequence] - mediators)
        return result[:cap], len(result) > cap

    def paths(self, topic, max_hops, sequences, cap=10_000, simple=False, back=True):
        """Kept entity paths and all ends of each sequence, and whether `cap` cut the paths."""
        by_sequence = {}
        for symbols, entities, _ in self.walks(topic, max_hops, True, back):
            if entities[-1] in self.mediators - {topic}:
                continue
            if not simple or len(set(entities)) == len(entities):
                by_sequence.setdefault(symbols, []).append(entities)
        everything = [sorted(by_sequence.get(tuple(s), [])) for s in sequences]
        firsts = min(cap, sum(map(bool, everything)))
        rest = cap - firsts
        kept = []
        for paths in everything:
            count = 0
            if paths and firsts:
                firsts -= 1
                count = 1 + min(rest, len(paths) - 1)
                rest -= count - 1
            kept.append(paths[:count])
        ends = [sorted({path[-1] for path in paths}) for paths in everything]
        return kept, ends, kept != everything

    def ball(self, topics, hops, direction, induced, max_degree=None, skip=False, mediators=()):
        """Hop of each entity id within `hops`, the (head, relation, tail) ids, the hubs.

        Entities in the order of discovery; edges as walked, or, induced, by head.
        """
        edges = [
            (self.entities.index(h), self.relations.index(r), self.entities.index(t))
            for h, r, t in self.triples
        ]
        rows = {"out": {}, "in": {}}
        for edge in edges:
            rows["out"].setdefault(edge[0], []).append(edge)
            rows["in"].setdefault(edge[2], []).append(edge)
        for row in rows["in"].values():
            row.sort(key=lambda edge: (edge[1], edge[0]))

        def is_hub(entity, way):
            return max_degree is not None and len(rows[way].get(entity, [])) > max_degree

        def followed(entity, way):
            row = rows[way].get(entity, [])
            if not is_hub(entity, way):
                return row
            if skip and entity not in topics:
                return []
            groups = [list(group) for _, group in groupby(row, key=lambda edge: edge[1])]
            most = max(1, max_degree // len(groups))
            return [
                group[i * len(group) // min(most, len(group))]
                for group in groups
                for i in range(min(most, len(group)))
            ]

        def is_mediator(entity):
            return entity in mediators and entity not in topics

        ways = ["out", "in"] if direction == "both" else [direction]
        found = dict.fromkeys(topics, 0)
        walked, hubs = [], set()

        def leave(layer, hop, free):
            for entity in layer:
                for way in ways:
                    if is_hub(entity, way):
                        hubs.add(entity)
                    for edge in followed(entity, way):
                        other = edge[2] if way == "out" else edge[0]
                        if free == (is_mediator(entity) and not is_mediator(other)):
                            found.setdefault(other, hop if free else hop + 1)
                            if edge not in walked:
                                walked.append(edge)

        for hop in range(hops + 1):
            leave([e for e in found if found[e] == hop and is_mediator(e)], hop, True)
            if hop < hops:
                leave([e for e in found if found[e] == hop], hop, False)
        if induced:
            hubs.update(entity for entity in found if is_hub(entity, "out"))
            walked = [
                edge
                for entity in found
                for edge in rows["out"].get(entity, [])
                if edge[2] in found
                and (edge in followed(entity, "out") or edge in followed(edge[2], "in"))
            ]
        return found, walked, hubs


def _sorted_names(names):
    return sorted(set(names), key=str.encode)
