"""Axes of consents and tokens (service 2.6, 3.5, 4.7, 4.8).

Five points are no rows, as the service decides them: a refresh ends the old access token (3.5 rule 1) and gives a new
refresh token (3.5 rule 2), expires_in is an integer (2.6), an access token lives for 1 hour, and an unsigned payment
for 60 minutes (3.3).
"""

from sandbox.contract.axis import Axis, axes_of

axis = axes_of("tokens")

ROWS: tuple[Axis, ...] = (
    axis(
        "pair_of", "service 3.5", "Whose pair of tokens ends when a new one is given.", "users that are mixed up",
        ("psu", "The pair of the same client, PSU and scope."),
        ("client", "The pair of the same client and scope, whichever PSU it was for."),
    ),
    axis(
        "reused_code", "service 4.8", "What a second use of a code does.", "a token call that is sent again blindly",
        ("ends_the_pair", "It is refused, and the pair that the code gave ends."),
        ("only_refused", "It is refused."),
        lenient=("only_refused",),
    ),
    axis(
        "failed_exchange", "service 4.8", "Whether a code outlives an exchange with a wrong verifier or address.",
        "a second try with another verifier",
        ("code_lives", "The right exchange still works."), ("code_dies", "The code is used up."),
    ),
    axis(
        "new_consent", "service 4.7", "What a new consent of the same PSU, client and scope does.",
        "tokens and logical-ids that are kept",
        ("replaces", "It replaces the earlier one."),
        ("adds", "It adds its accounts to the earlier one, which goes on with its tokens and logical-ids."),
    ),
    axis(
        "renewal_extends_consent", "service 4.10", "Whether a renewed authentication makes the consent last longer.",
        "day 181",
        ("no", "The consent ends when it was to end."), ("yes", "The consent begins anew."),
        lenient=("yes",),
    ),
    axis(
        "sca_token_request", "service 2.6", "Where the SCA token is sent.", "a proof that the bank never sees",
        ("header", "In the header SCA-Token."), ("query", "In the query parameter sca_token."),
    ),
    axis(
        "sca_token_reply", "service 2.6", "The name of the SCA token in the token reply.", "a name that is not there",
        ("sca_token", "sca_token."), ("scaToken", "scaToken."),
    ),
    axis(
        "sca_token_for", "service 2.6", "Which codes an SCA token comes with.", "a missing key",
        ("every_code", "Every code."), ("ais", "Those of the scope AIS."),
    ),
    axis(
        "sca_token_uses", "service 4.8", "How often an SCA token is good.", "a second page without history",
        ("many", "As often as it is sent while it lives."), ("one", "Once; after that it counts as absent."),
    ),
    axis(
        "scope_in", "service 4.7", "Where the scope of a consent is asked for.", "a scope that the bank never sees",
        ("query", "In the query parameter scope."), ("header", "In the header Scope."),
    ),
    axis(
        "caf_account", "service 4.7", "The name of the account that a CAF consent asks for.", "a rigid query",
        ("iban", "The query parameter iban."), ("account", "The query parameter account."),
    ),
    axis(
        "caf_role", "service 1", "The role that a TPP needs to ask for a CAF consent.",
        "a certificate without the third role",
        ("AIS", "AIS."), ("own", "A role of its own, CAF: without it 403."),
    ),
    axis(
        "consent_languages", "service 4.7", "The consent addresses where Accept-Language names several languages.",
        "the first address taken for the best",
        ("best", "That of the language that is wanted most."), ("each", "One for each of them, French first."),
    ),
    axis(
        "caf_transactions", "service 1", "Whether a CAF token reads transactions.", "asking for more than is granted",
        ("no", "403."), ("yes", "It reads those of its account."),
        lenient=("yes",),
    ),
    axis(
        "token_type_case", "service 2.6", "The case of token_type, which RFC 6749 leaves open.", "a comparison by case",
        ("Bearer", "Bearer."), ("bearer", "bearer."),
    ),
    axis(
        "token_length", "service 2.6", "How long tokens are.", "a column or a header that is too short",
        ("short", "43 characters."), ("long", "About 1,500 characters."),
    ),
    axis(
        "code_characters", "service 6.1", "The characters of a code.", "a code that is not encoded in the form",
        ("plain", "Letters, digits, - and _."), ("reserved", "Also +, / and =."),
    ),
)  # fmt: skip
