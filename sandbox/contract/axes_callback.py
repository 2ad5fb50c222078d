"""Axes of the callback: what a browser may bring back (service 5.3, 6.1, RFC 6749).

Values marked as not within the service's word come from a bad bank, a forger or a browser: a right client refuses the
callback, or does without it. A callback that comes before the reply to the POST is no row: no bank decides that.
"""

from sandbox.contract.axis import Axis, axes_of

axis = axes_of("callback")

ROWS: tuple[Axis, ...] = (
    axis(
        "callback_state", "service 6.1", "The state that comes back.", "no guard against forgery",
        ("kept", "As the TPP gave it."), ("missing", "It is left out.", False), ("altered", "It is another.", False),
        ("other_flow", "That of the client's flow before.", False),
    ),
    axis(
        "callback_code", "service 6.1", "The code that comes back.", "a code that is exchanged without a look",
        ("given", "The code of this flow."), ("twice", "The parameter stands there twice.", False),
        ("foreign", "A code that the bank did not give to this client.", False),
        ("other_flow", "That of the client's flow before.", False),
    ),
    axis(
        "callback_arrival", "service 6.1", "How the browser comes to the callback.", "a callback taken for granted",
        ("once", "Once, at once."), ("twice", "Twice, as after a reload."),
        ("late", "After the end of its code's life.", False), ("never", "The PSU closed the browser.", False),
    ),
    axis(
        "refusal_callback", "service 6.1", "What follows when the PSU refuses.", "an order that hangs",
        ("error", "The callback has an error."), ("none", "The bank's page says so, and no callback follows."),
    ),
    axis(
        "code_beside_token", "service 6.1", "A code where an access token was used at the initiation.",
        "a wrong exchange",
        ("no", "None."), ("yes", "A code that cannot be exchanged, as no challenge was sent."),
    ),
    axis(
        "callback_error", "service 6.1", "The error after a refusal.", "one error taken for all",
        ("access_denied", "access_denied."), ("server_error", "server_error, which RFC 6749 has too."),
    ),
    axis(
        "callback_outcome", "service 6.1", "Whether a callback says one thing.", "looking at code before error",
        ("one", "A code, or an error."), ("both", "A code, and error=server_error.", False),
    ),
    axis(
        "callback_parameters", "service 6.1", "Further parameters of the callback.", "a parser that expects no more",
        ("known", "None."), ("more", "iss and session_state, as other servers send."),
    ),
    axis(
        "callback_encoding", "service 6.1", "How a blank in the callback is encoded.", "a decoder of its own",
        ("plus", "+."), ("percent", "%20."),
    ),
)  # fmt: skip
