"""Every test has an app of its own with all its routes. What werkzeug compiles for one follows from its text alone, so
it is compiled once for all tests.
"""

from typing import Any

from werkzeug.routing import Rule


def compile_once() -> None:
    """Without it all is the same, and slower."""
    compiled = Rule.compile
    first: dict[tuple[Any, ...], Rule] = {}

    def once(rule: Rule) -> None:
        key = (rule.rule, rule.subdomain, rule.host, rule.merge_slashes)
        like = first.get(key)
        if rule.defaults or like is None:
            compiled(rule)
            if not rule.defaults:
                first[key] = rule
            return
        rule._parts, rule._trace, rule._converters = like._parts, like._trace, like._converters
        rule.arguments = set(like.arguments)
        rule._build, rule._build_unknown = (
            build.__func__.__get__(rule)  # type: ignore[attr-defined]  # a function of werkzeug's, bound to its rule
            for build in (like._build, like._build_unknown)
        )

    setattr(Rule, "compile", once)  # noqa: B010 - it is theirs, and mypy knows it as a method
