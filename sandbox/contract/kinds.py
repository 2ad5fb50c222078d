"""The kinds of initiations: payment, standing order and bulk file. Code that depends on the kind reads its row."""

from dataclasses import dataclass

from sandbox.contract.moves import MOVES, Status
from sandbox.contract.products import PRODUCTS, SCT


@dataclass(frozen=True, slots=True, eq=False)
class InitiationKind:
    """The properties in which payments, standing orders and files differ."""

    name: str  # its name in rules, in metrics and in the names of operations
    label: str  # its name in sentences
    path: str  # the first part of its paths in the bank's interface
    list: str  # the name of its list in the controls and in the console
    register: str  # the attribute of the bank that has its initiations
    products: tuple[str, ...]
    moves: tuple[str, ...]  # the names of its tables of moves
    waits: Status  # the first status in which it waits for its customer
    one_account: (
        bool  # whether one account pays all of it; the customer chooses this account if the TPP named no account
    )
    words: str  # selects the variant of sentences on the bank's pages
    clause: str
    id: str = "payment_id"  # the name of its id in paths and replies
    id_type: str = "paymentIdType"  # the query parameter that says what the id is (choice 5)
    group: str = "{product}"  # a TPP's own reference is searched among the initiations of one group (choice 5)

    @property
    def id_input(self) -> str:
        """The word by which a refusal names the id."""
        return self.id.replace("_", "-")

    def make_group(self, product: str) -> str:
        return self.group.format(product=product)


PAYMENT = InitiationKind(
    name="payment",
    label="payment",
    path="payments",
    list="payments",
    register="payments",
    products=tuple(PRODUCTS),
    moves=tuple(path for path in MOVES if path.partition(" ")[0] in PRODUCTS),
    waits=Status.RCVD,
    one_account=True,
    words="",
    clause="service 2.1",
)
STANDING_ORDER = InitiationKind(
    name="standing_order",
    label="standing order",
    path="periodic-payments",
    list="standing-orders",
    register="standing_orders",
    products=(SCT.name,),
    moves=("periodic-payments",),
    waits=Status.PATC,
    one_account=True,
    words="order",
    group="periodic-payments",
    clause="service 2.2",
)
BULK = InitiationKind(
    name="bulk",
    label="file",
    path="bulk-payments",
    list="bulk-payments",
    register="bulks",
    products=("pain.001", "csv"),
    moves=("bulk-payments", "bulk in a file"),
    waits=Status.PATC,
    one_account=False,
    words="bulk",
    group="bulk {product}",
    clause="service 2.3",
    id="payment_file_id",
    id_type="paymentFileIdType",
)

KINDS = {kind.name: kind for kind in (PAYMENT, STANDING_ORDER, BULK)}
BY_PATH = {kind.path: kind for kind in KINDS.values()}
BY_LIST = {kind.list: kind for kind in KINDS.values()}
