"""The app's stylesheet: what was parsed and looked up once is not parsed and looked up again.

Textual keeps the parsed rules of 64 sources and starts anew with each area. The app has more than twice as many, so
that the first visit to an area, and the first opening of a dialog, would parse all of them while a key waits. It also
goes through all rules for each widget, and for each part of one, whenever a class or a focus changes: half of what
opening a dialog takes.
"""

from collections.abc import Iterable, Sequence

from textual.cache import LRUCache
from textual.css.model import CombinatorType, RuleSet, Selector, SelectorType
from textual.css.styles import RulesMap
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode

KEPT = 1024
"""Sources whose parsed rules are kept."""

Cache = dict[tuple[object], RulesMap]
Seen = tuple[frozenset[str], ...]

_MARKS = {SelectorType.CLASS: ".", SelectorType.ID: "#", SelectorType.TYPE: ""}
_ORDER = frozenset({"first-of-type", "last-of-type", "first-child", "last-child", "empty"})


class Sheet(Stylesheet):
    """A stylesheet that parses a source again only when the colours change, and remembers which rules hold where."""

    def __init__(self, *, variables: dict[str, str]) -> None:
        super().__init__(variables=variables)
        self._parse_cache = LRUCache(KEPT)
        self._mapped: dict[str, list[RuleSet]] = {}
        self._places: dict[int, int] = {}
        self._of_names: dict[frozenset[str], _Candidates] = {}
        self._of_rules: dict[tuple[int, ...], _Candidates] = {}
        self._part = DOMNode()

    def set_variables(self, variables: dict[str, str]) -> None:
        if variables != self._variables:
            super().set_variables(variables)
            self._of_rules.clear()

    def reparse(self) -> None:
        """Parse what is not parsed yet."""
        self.parse()

    def apply(
        self, node: DOMNode, *, animate: bool = False, cache: dict[tuple[object], RulesMap] | None = None
    ) -> None:
        """Give a node its styles: by the rules that held for one that looked the same to them, else by all rules."""
        del cache
        candidates = self._candidates(node)
        seen = candidates.seen(node.css_path_nodes)
        rules = candidates.known.get(seen)
        if rules is not None:
            candidates.mark(node)
            if rules:
                self.replace_rules(node, rules, animate=animate)
            self._process_component_classes(node)
            return
        found: Cache = {}
        super().apply(node, animate=animate, cache=found)
        if found or candidates.pseudo_classes.isdisjoint(self._EXCLUDE_PSEUDO_CLASSES_FROM_CACHE):
            candidates.known[seen] = next(iter(found.values()), RulesMap())

    @classmethod
    def replace_rules(cls, node: DOMNode, rules: RulesMap, animate: bool = False) -> None:
        """Put rules in the place of those that a node has, unless they are the same."""
        if node.styles.base._rules == rules:
            node.notify_style_update()
        else:
            super().replace_rules(node, rules, animate=animate)

    def _process_component_classes(self, node: DOMNode) -> None:
        """Give the parts of a widget their styles anew, if one of them changes."""
        held = node._component_styles
        if held.keys() != node._get_component_classes() or any(self._changes(node, part) for part in held):
            super()._process_component_classes(node)

    def _changes(self, node: DOMNode, part: str) -> bool:
        """Tell whether a part of a widget has other styles by now."""
        self._part._classes = {part}
        self._part._attach(node)
        known = self._candidates(self._part)
        return known.known.get(known.seen(self._part.css_path_nodes)) != node._component_styles[part].base._rules

    def _candidates(self, node: DOMNode) -> "_Candidates":
        """Return what the rules ask that could hold for a node by the last of their selectors."""
        if self.rules_map is not self._mapped:
            self._mapped = self.rules_map
            self._places = {id(rule): place for place, rule in enumerate(self.rules)}
            self._of_names.clear()
        names = frozenset(self._mapped.keys() & node._selector_names)
        known = self._of_names.get(names)
        if known is None:
            rules = {id(rule): rule for name in names for rule in self._mapped[name]}
            order = tuple(sorted(rules, key=self._places.__getitem__))
            known = self._of_rules.get(order)
            if known is None:
                known = self._of_rules[order] = _Candidates([rules[each] for each in order])
            self._of_names[names] = known
        return known


class _Candidates:
    """Some rules, and what held for those whom they looked the same to."""

    def __init__(self, rules: Sequence[RuleSet]) -> None:
        self._rules = rules
        selectors = [alternative.selectors for rule in rules for alternative in rule.selector_set]
        self._around = _Asked(one for each in selectors for one in each[: _last_of(each)])
        self._last = _Asked(one for each in selectors for one in each)
        self._places_count = any(one.combinator is CombinatorType.CHILD for each in selectors for one in each)
        self.pseudo_classes = frozenset[str]().union(*(rule.pseudo_classes for rule in rules))
        self.known: dict[Seen, RulesMap] = {}

    def seen(self, path: Sequence[DOMNode]) -> Seen:
        """Return what of the nodes from the app to the last one makes a difference to these rules."""
        around = [self._around.of(node) for node in path[:-1]]
        return (*(around if self._places_count else filter(None, around)), self._last.of(path[-1]))

    def mark(self, node: DOMNode) -> None:
        """Note on a node what changes of it have to be looked at, as Textual does."""
        pseudo = self.pseudo_classes
        node._has_hover_style = "hover" in pseudo
        node._has_focus_within = "focus-within" in pseudo
        node._has_order_style = not pseudo.isdisjoint(_ORDER)
        node._has_odd_or_even = "odd" in pseudo or "even" in pseudo


class _Asked:
    """What selectors ask of a node: types, classes, ids, and pseudo classes of those that have them."""

    def __init__(self, selectors: Iterable[Selector]) -> None:
        self._pseudo: dict[str, frozenset[str]] = {}
        for one in selectors:
            name = f"{_MARKS[one.type]}{one.name}" if one.type in _MARKS else "*"
            self._pseudo[name] = self._pseudo.get(name, frozenset()) | one.pseudo_classes
        self._classes = frozenset(name[1:] for name in self._pseudo if name.startswith("."))
        self._types: dict[frozenset[str], frozenset[str]] = {}

    def of(self, node: DOMNode) -> frozenset[str]:
        held = self._types.get(node._css_type_names)
        if held is None:
            held = self._types[node._css_type_names] = frozenset(self._pseudo.keys() & {"*", *node._css_type_names})
        if node._classes and not self._classes.isdisjoint(node._classes):
            held = held.union(f".{name}" for name in self._classes & node._classes)
        if node._id is not None and (name := f"#{node._id}") in self._pseudo:
            held = held | {name}
        pseudo = [each for name in held for each in self._pseudo[name]]
        return held.union(f":{each}" for each in pseudo if node.has_pseudo_class(each)) if pseudo else held


def _last_of(selectors: Sequence[Selector]) -> int:
    """Return where the selectors begin that are for the last node only."""
    at = len(selectors) - 1
    while at and selectors[at].combinator is CombinatorType.SAME:
        at -= 1
    return at
