"""The rules of the house, each a function that tells what it found wrong."""

import ast
import configparser
import re
from collections.abc import Callable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

LATER = re.compile(r"sandbox(?:\.\w+)+:[\w.]+")
House = dict[str, str]  # dotted name of a module -> its source; a package is its `__init__`
Check = Callable[[House], list[str]]


# From the inside out: a room may know its own row and the rows above it.
ROOMS = (
    {"contract", "machine", "machine.operating_system", "lazy", "extension_registry", "server_address"},
    {"banking"},
    {"bulkfiles", "pki", "reader", "recordings"},
    {"bank"},
    {"people"},
    {"storage"},
    {"worlds"},
    {"scenarios", "storage.transfer"},
    {"web.html"},
    {"web.psu", "web.api", "web.controls", "web.console"},
    {"web", "web.docs", "app", "server"},
    {"client"},
    {"player", "testing"},
    {"cli", "commands", "pytest_plugin", "__init__", "__main__"},
    {
        "extensions",
        "extensions.agents",
        "extensions.calibrate",
        "extensions.film",
        "extensions.lift",
        "extensions.record",
        "extensions.referee",
        "extensions.shop",
        "extensions.vary",
    },
)
# Rooms within a room that have a place of their own.
SPLIT = {"web", "machine.operating_system", "storage.transfer", "extensions"}
# Inside a room: a module that is not named here is only kept from circles.
INSIDE = {
    "bank": (
        {"records", "clock", "mint", "ledger"},
        {"state"},
        {"tokens", "consents", "accounts"},
        {"initiations"},
        {"payments", "standing_orders", "bulks"},
        {"signing"},
        {"psu_actions"},
        {"timeline"},
    ),
    "web.api": (
        {"body_schemas"},
        {"bodies", "replies", "signatures", "certificates"},
        {"gate"},
        {"initiations"},
        {"bulks", "access", "accounts"},
        {"app"},
    ),
}
WEB = {"flask", "werkzeug", "marshmallow"}
WEB_BEGINS = 8  # the row of ROOMS from which the web is known
PURE = {"contract", "banking", "bulkfiles", "bank"}
CHANCE = {"random", "uuid", "secrets", "time"}
KNOW_MACHINE = {
    "cli",
    "commands",
    "__init__",
    "machine",
    "server",
    "extensions.record",
    "extensions.shop",
    "extensions.vary",
}
CLOCK_READS = {"now", "utcnow", "today"}
# Where banks are made and held, and what has one at hand: of `event` only the referee's, which runs within the door.
HOLD_BANKS = {"bank", "people", "worlds", "storage", "storage.transfer"}
HAVE_BANKS = {"event", "self", "parent"}
DECIDE = {"bank", "web.api", "web.psu"}
WRITE_NO_STATUS = {
    "bank",
    "people",
    "worlds",
    "storage",
    "storage.transfer",
    "scenarios",
    "web",
    "web.api",
    "web.psu",
    "web.controls",
}
WRITE_NO_STATUS |= {"web.console", "player", "commands"}
MOVES = "sandbox.bank.state.move"
STOPWATCH = "time.perf_counter"  # measures, but tells no time of day; the wire may use it

FUNCTION_LINES_MAX = 50
# Names that several classes may have.
SHARED_NAMES = {"Meta"}  # marshmallow looks for a class of this name in each schema

# Participles and pictures that say nothing of what they name; a name may not consist of one, nor end with one.
RIDDLES = {"told", "said", "heard", "seen", "lived", "settled", "written", "wanted", "known", "living", "aside"}
RIDDLES |= {"doorstep", "stories", "tenants", "carrying", "traveller"}
PREPOSITIONS = {"of", "in", "by", "at", "to", "for", "from", "as", "with", "on"}
PREDICATES = {"is", "has", "was", "can"}
NAMES_KEPT = {"settled"}  # a field of payments in state files and exports, and the guard of moves that reads it


# Reading


def read_house(folder: Path) -> House:
    files = sorted(folder.rglob("*.py"))
    return {".".join(file.relative_to(folder.parent).with_suffix("").parts): file.read_text() for file in files}


@cache
def nodes(source: str) -> tuple[ast.AST, ...]:
    """Walked once, as each rule looks at them."""
    return tuple(ast.walk(ast.parse(source)))


def room(module: str) -> str:
    first, *rest = module.split(".")[1:]
    named = f"{first}.{rest[0]}" if rest and rest[0] != "__init__" else first
    return named if first in SPLIT or named in SPLIT else first


def rank(name: str, rows: tuple[set[str], ...]) -> int | None:
    return next((number for number, row in enumerate(rows) if name in row), None)


def imports(module: str, house: House) -> set[str]:
    """Everything the module imports, wherever it does; our own modules by their names in the house."""
    found = set()
    for node in nodes(house[module]):
        if isinstance(node, ast.Import):
            found |= {resolve(alias.name, house) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            origin = node.module or ""
            if node.level:
                package = module.split(".")[: -node.level]
                origin = ".".join([*package, origin] if origin else package)
            found |= {resolve(f"{origin}.{alias.name}", house) for alias in node.names}
    return (found | {resolve(name.partition(":")[0], house) for name in names_for_later(house[module])}) - {module}


def names_for_later(source: str) -> set[str]:
    """What `lazy.load` imports: texts such as `sandbox.room.module:name`."""
    texts = {node.value for node in nodes(source) if isinstance(node, ast.Constant)}
    return {text for text in texts if isinstance(text, str) and LATER.fullmatch(text)}


def resolve(name: str, house: House) -> str:
    """`sandbox.bank.clock.Clock` is the module `sandbox.bank.clock`; what is not ours keeps its name."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        module = ".".join(parts[:length])
        for candidate in (module, f"{module}.__init__"):
            if candidate in house:
                return candidate
    return name


def ours(module: str, house: House) -> set[str]:
    return {target for target in imports(module, house) if target in house}


def definitions(source: str) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in nodes(source):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


# The rules: each gives what it found wrong


def every_room_has_a_place(house: House) -> list[str]:
    return [f"{module}: its room is not in ROOMS" for module in house if rank(room(module), ROOMS) is None]


def imports_point_inward(house: House) -> list[str]:
    found = []
    for module in house:
        for target in ours(module, house):
            here, there = rank(room(module), ROOMS), rank(room(target), ROOMS)
            if here is not None and there is not None and there > here:
                found.append(f"{module} knows {target}")
    return found


def extensions_do_not_know_each_other(house: House) -> list[str]:
    """The rule before has the core know no extension, as they are all in the last row of ROOMS."""
    return [
        f"{module} knows {target}"
        for module in house
        for target in ours(module, house)
        if room(module).startswith("extensions.")
        and room(target).startswith("extensions.")
        and room(module) != room(target)
    ]


def imports_point_inward_inside_a_room(house: House) -> list[str]:
    found = []
    for module in house:
        rows = INSIDE.get(room(module), ())
        for target in ours(module, house):
            here, there = rank(module.split(".")[-1], rows), rank(target.split(".")[-1], rows)
            if room(target) == room(module) and here is not None and there is not None and there > here:
                found.append(f"{module} knows {target}")
    return found


def modules_form_no_circle(house: House) -> list[str]:
    return circle({module: ours(module, house) for module in house})


def rooms_form_no_circle(house: House) -> list[str]:
    graph: dict[str, set[str]] = {}
    for module in house:
        others = {room(target) for target in ours(module, house)} - {room(module)}
        graph.setdefault(room(module), set()).update(others)
    return circle(graph)


def circle(graph: dict[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [" <- ".join(error.args[1])]
    return []


def the_web_stays_outside(house: House) -> list[str]:
    found = []
    for module in house:
        here = rank(room(module), ROOMS)
        if here is not None and here < WEB_BEGINS:
            foreign = {name.split(".")[0] for name in imports(module, house)}
            found += [f"{module} imports {name}" for name in sorted(foreign & WEB)]
    return found


def chance_stays_outside(house: House) -> list[str]:
    """The pure rooms import neither chance nor the machine's time; chance comes from the bank's mint."""
    found = []
    for module in house:
        if room(module) in PURE:
            foreign = {name.split(".")[0] for name in imports(module, house)}
            found += [f"{module} imports {name}" for name in sorted(foreign & CHANCE)]
    return found


def the_machine_is_known_at_the_top_only(house: House) -> list[str]:
    return [
        f"{module} knows {target}"
        for module in house
        for target in ours(module, house)
        if room(target) == "machine" and room(module) not in KNOW_MACHINE
    ]


def only_the_machine_tells_time(house: House) -> list[str]:
    found = []
    for module, source in house.items():
        if room(module) != "machine":
            allowed = {STOPWATCH} if room(module) == "web.api" else set()
            found += [f"{module} reads {name}" for name in sorted(clock_reads(source) - allowed)]
    return found


def clock_reads(source: str) -> set[str]:
    """What of `time`, and `now`, `utcnow`, `today` of datetime and date, is named; aliases are followed."""
    names: dict[str, str] = {}
    found = set()
    for node in nodes(source):
        if isinstance(node, ast.Import):
            names |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module in {"time", "datetime"}:
            names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            found |= {f"time.{alias.name}" for alias in node.names if node.module == "time"}
    for node in nodes(source):
        if isinstance(node, ast.Attribute):
            first, _, rest = ast.unparse(node).partition(".")
            found.add(f"{names.get(first, '')}.{rest}")
    clocks = {f"datetime.{kind}.{read}" for kind in ("datetime", "date") for read in CLOCK_READS}
    return {name for name in found if name in clocks or re.fullmatch(r"time\.(?!sleep\b|struct_time\b)\w+", name)}


def no_two_classes_share_a_name(house: House) -> list[str]:
    places: dict[str, list[str]] = {}
    for module, source in house.items():
        for node in nodes(source):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(module)
    return [
        f"{name}: {', '.join(modules)}"
        for name, modules in sorted(places.items())
        if len(modules) > 1 and name not in SHARED_NAMES
    ]


def functions_stay_small(house: House) -> list[str]:
    found = []
    for module, source in house.items():
        for node in definitions(source):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if not isinstance(node, ast.ClassDef) and lines > FUNCTION_LINES_MAX:
                found.append(f"{module}.{node.name}: {lines} lines")
    return found


def names_are_no_riddles(house: House) -> list[str]:
    """Functions, classes, modules and parameters are named by nouns or verbs, not by `told` or `seen_of`."""
    found = []
    for module, source in house.items():
        names = {*module.split("."), *(node.name for node in definitions(source))}
        names |= {node.arg for node in nodes(source) if isinstance(node, ast.arg)}
        found += [f"{module}: {name}" for name in sorted(names - NAMES_KEPT) if is_riddle(name)]
    return found


def is_riddle(name: str) -> bool:
    words = words_of(name)
    while words and words[-1] in PREPOSITIONS:
        words.pop()
    return bool(words) and words[-1] in RIDDLES and words[0] not in PREDICATES


def words_of(name: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", name)]


def packages_left_behind(setup: str, house: House) -> set[str]:
    settings = configparser.ConfigParser()
    settings.read_string(setup)
    listed = set(settings["options"]["packages"].split())
    return {module.removesuffix(".__init__") for module in house if module.endswith(".__init__")} - listed


def reads_go_by_the_doors(house: House) -> list[str]:
    """A bank is read by `World.ask`, and after the reply by `look` and `note`: nobody takes it out of its world."""
    found = []
    for module, source in house.items():
        for node in nodes(source) if room(module) not in HOLD_BANKS else ():
            if isinstance(node, ast.Attribute) and node.attr == "bank" and ast.unparse(node.value) not in HAVE_BANKS:
                found.append(f"{module}:{node.lineno}: {ast.unparse(node)} reads a bank past World.ask")
    return found


def what_decides_reads_decisions(house: House) -> list[str]:
    """`bank.decisions` notes which axes are met; `settings` are for those who only look at them."""
    found = []
    for module, source in house.items():
        for node in nodes(source) if room(module) in DECIDE and module != "sandbox.bank.state" else ():
            if isinstance(node, ast.Attribute) and node.attr == "settings":
                found.append(f"{module}:{node.lineno}: {ast.unparse(node)} is read past `decisions`")
    return found


def one_function_writes_a_status(house: House) -> list[str]:
    """`Bank.move` asks the table of moves before, so no other line of the bank's rooms sets a status."""
    found = []
    for module, source in house.items():
        for function in definitions(source) if room(module) in WRITE_NO_STATUS else ():
            if isinstance(function, ast.ClassDef) or f"{module}.{function.name}" == MOVES:
                continue
            written = (target for node in ast.walk(function) for target in targets_of(node))
            found += [f"{module}:{line}: writes a status" for name, line in written if name == "status"]
    return found


def targets_of(node: ast.AST) -> Iterator[tuple[str, int]]:
    """Attributes that a node sets, each with its line."""
    match node:
        case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del(), lineno=line):
            yield name, line
        case ast.Call(func=ast.Name("setattr"), args=[_, ast.Constant(str(name)), _], lineno=line):
            yield name, line


CHECKS: tuple[Check, ...] = (
    every_room_has_a_place,
    imports_point_inward,
    extensions_do_not_know_each_other,
    imports_point_inward_inside_a_room,
    modules_form_no_circle,
    rooms_form_no_circle,
    the_web_stays_outside,
    chance_stays_outside,
    the_machine_is_known_at_the_top_only,
    only_the_machine_tells_time,
    functions_stay_small,
    no_two_classes_share_a_name,
    names_are_no_riddles,
    reads_go_by_the_doors,
    what_decides_reads_decisions,
    one_function_writes_a_status,
)
