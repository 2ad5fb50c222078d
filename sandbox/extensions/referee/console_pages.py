"""The parts of the console that the referee adds: its page with the broken rules and the coverage, and panels on two
other pages (choice 10)."""

from markupsafe import Markup

from sandbox.extensions.referee.coverage import compute_coverage, describe_cell
from sandbox.extensions.referee.report import SHOWN, list_broken_rules, make_report, read_setting
from sandbox.extensions.referee.rule import Severity
from sandbox.extensions.referee.stream import find_referee
from sandbox.extensions.referee.table import BY_ID, TABLE
from sandbox.web.console.templating import load_templates
from sandbox.web.console.visits import ConsoleVisit, Facts
from sandbox.worlds.world import World

GLIMPSE = 3  # broken rules on the first page of the console
KIND_NAMES = {
    "operation": "operations",
    "status": "statuses of initiations",
    "error": "errors",
    "move": "changes of status",
    "answer": "HTTP statuses",
    "version": "versions",
}


def referee(visit: ConsoleVisit) -> Facts:
    """Returns the facts for the page of the referee: all broken rules, each with its newest findings. If the query
    names a rule, returns only this rule with all its findings."""
    chosen_rule = BY_ID.get(visit.request.args.get("rule", ""))
    broken = [row for row in list_broken_rules(make_report(visit.world)) if chosen_rule in (None, row.rule)]
    unwaived = [row for row in broken if row.reason is None]
    settings = visit.world.ask(lambda bank: bank.settings)
    return {
        "chosen_rule": chosen_rule,
        "unwaived": unwaived,
        "waived": [row for row in broken if row.reason is not None],
        "counts": [
            (level.value, sum(row.times for row in unwaived if row.rule.severity is level)) for level in Severity
        ],
        "shown": None if chosen_rule else SHOWN,
        "last": max((call.seq for call in visit.world.calls.list_all()), default=0),
        "watching": settings.referee == "on",
        "waives": "\n".join(settings.referee_waives),
        "reasons": read_setting(settings.referee_waives),
        "rules": len(TABLE),
        "coverage": compute_coverage(visit.world),
        "in_words": describe_cell,
        "kind_names": KIND_NAMES,
    }


def call_panel(visit: ConsoleVisit, facts: Facts) -> Markup:
    """Returns the HTML that lists the findings about one call, for the page of that call. Returns empty HTML if there
    are none."""
    seq = facts["call"].seq
    findings = [finding for finding in make_report(visit.world).findings if finding.exchange.seq == seq]
    template = load_templates().get_template("sandbox.extensions.referee/call_panel.html")
    return Markup(template.render(findings=findings, to=visit.to)) if findings else Markup()


def overview_panel(visit: ConsoleVisit, facts: Facts) -> Markup:
    """Returns the HTML that lists the gravest broken rules, for the first page of the console. Leaves out waived
    rules."""
    broken = [row for row in list_broken_rules(make_report(visit.world)) if row.reason is None]
    template = load_templates().get_template("sandbox.extensions.referee/overview_panel.html")
    return Markup(template.render(broken=broken[:GLIMPSE], more=len(broken) - GLIMPSE, to=visit.to))


def count_findings(world: World) -> int:
    """Returns the number of findings that are not waived, for the menu."""
    return sum(row.times for row in list_broken_rules(make_report(world)) if row.reason is None)


def count_all(world: World) -> int:
    return find_referee(world).counts.total()
