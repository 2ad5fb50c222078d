"""Axes of settling and cancelling (service 3.1, 3.3, 3.4)."""

from sandbox.contract.axis import Axis, axes_of

axis = axes_of("settling")

ROWS: tuple[Axis, ...] = (
    axis(
        "after_debit", "service 3.3", "A payment that is refused after the debit.", "a status taken as final",
        ("RJCT", "RJCT, and the money returns."), ("return", "ACSC, and the money returns."),
    ),
    axis(
        "xb_delete", "service 3.4", "DELETE of a cross-border payment.", "a branch on the status",
        ("405", "405."), ("403", "403."),
    ),
    axis(
        "cancel_again", "service 3.4", "DELETE of a payment or file that is cancelled.", "a 204 that was lost",
        ("403", "403."), ("204", "204 again."), ("404", "404."),
        lenient=("204",),
    ),
    axis(
        "order_matrix", "service 3.4", "DELETE of a standing order that has ended; the service says all statuses too.",
        "a branch on the status",
        ("listed", "403: CANC is no cancellable status."), ("all", "204, and nothing changes."),
        lenient=("all",),
    ),
    axis(
        "cancel_cut_off", "service 3.4", "Until when a payment that waits for its day can be cancelled.", "too late",
        ("06:00", "Until it is executed at 06:00."), ("day_before", "Until the end of the day before."),
    ),
    axis(
        "fees", "service 2.1", "Which payments bear a fee, as a line of its own.", "a balance that is reckoned",
        ("tariff", "Urgent and instant ones of customers whose tariff says so; most have none."),
        ("everybody", "Urgent and instant ones of every customer."), ("abroad", "Cross-border ones, too."),
    ),
    axis(
        "value_date", "service 2.1", "The value date of a SEPA payment that is not urgent.", "a date that is reckoned",
        ("next_day", "The next banking day."), ("same_day", "The day of the debit."),
    ),
)  # fmt: skip
