"""Makes a reply fit for an agent: without secrets, and short enough to read.

A list of a world may have 200,000 rows, and the context of an agent holds some hundred of them. So a list is cut to its
newest rows. If the reply is still too long, the ends of its inner lists and texts are cut too. The reply says how many
rows or characters were left out, so that the agent can ask for them.
"""

import json
import re
from collections.abc import Collection
from typing import Any

OUTPUT_MAX = 20_000  # characters of one result
ROWS, ROWS_MAX = 20, 200
HIDDEN = "(hidden)"
# Names of fields whose values are secrets. The id of a client and the code of a callback are none: the code is of use
# only together with the secret and the verifier of the client that is tested.
SECRET_NAMES = frozenset(
    {
        "secret", "client_secret", "access_token", "refresh_token", "sca_token", "id_token", "token", "authorization",
        "sca-token", "x-sandbox-key", "code_verifier", "private_key", "password",
    }
)  # fmt: skip
SECRETS_IN_TEXT = re.compile(
    r"(?i)\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{16,}"
    r"|\b(client_secret|access_token|refresh_token|sca_token|code_verifier)=[^&\s\"']+"
)
# How far the inner lists and texts of a long reply are cut, step by step.
STEPS = ((200, 2_000), (50, 1_000), (20, 500), (5, 200), (1, 100))


def hide_secrets(value: Any, secrets: Collection[str] = ()) -> Any:
    """Returns the value with its secrets masked. Secrets are the fields with a name in SECRET_NAMES, the parts of texts
    that look like a secret, and each text in `secrets`."""
    match value:
        case dict():
            return {
                name: HIDDEN if name.lower() in SECRET_NAMES and text not in (None, "") else hide_secrets(text, secrets)
                for name, text in value.items()
            }
        case list():
            return [hide_secrets(item, secrets) for item in value]
        case str():
            for secret in secrets:
                value = value.replace(secret, HIDDEN)
            return SECRETS_IN_TEXT.sub(lambda match: f"{match[1] or match[2]} {HIDDEN}", value)
    return value


def select_newest_rows(value: Any, limit: int, containing: str = "") -> tuple[Any, str]:
    """Returns the reply `value` with only the newest `limit` rows of each of its lists. If `containing` is not empty,
    rows without this text are left out first. Also returns a sentence about the rows that were left out because of
    `limit`, or an empty text if there are none. A reply that is no JSON object is returned unchanged."""
    if not isinstance(value, dict):
        return value, ""
    lists = {name: rows for name, rows in value.items() if isinstance(rows, list)}
    # Some lists are there under a second spelling of their name.
    same = {name for name in lists if name.replace("_", "-") != name and name.replace("_", "-") in lists}
    shortened: dict[str, Any] = {name: row for name, row in value.items() if name not in same}
    about = ""
    for name in lists.keys() - same:
        rows = [row for row in lists[name] if not containing or containing.casefold() in _write_text(row).casefold()]
        shortened[name] = rows[-limit:]
        if len(rows) > limit:
            about = f"{len(rows) - limit} older rows of {len(rows)} are left out; limit or containing shows them"
    return shortened, about


def fit(value: Any, most: int = OUTPUT_MAX) -> Any:
    """Returns the value if it has at most `most` characters. Otherwise cuts its inner lists and texts until it fits. If
    that does not suffice, returns its beginning as a text."""
    text = _write_text(value)
    if len(text) <= most:
        return value
    if isinstance(value, str):
        return f"{text[:most]}... ({len(text) - most} more characters)"
    for items, characters in STEPS:
        shortened = _shorten(value, items, characters)
        if len(_write_text(shortened)) <= most:
            return shortened
    text = _write_text(shortened)
    return f"{text[:most]}... ({len(text) - most} more characters)"


def _shorten(value: Any, items: int, characters: int) -> Any:
    match value:
        case dict():
            return {name: _shorten(item, items, characters) for name, item in value.items()}
        case list():
            shortened = [_shorten(item, items, characters) for item in value[-items:]]
            return shortened if len(value) <= items else [f"({len(value) - items} earlier ones)", *shortened]
        case str() if len(value) > characters:
            return f"{value[:characters]}... ({len(value) - characters} more characters)"
    return value


def _write_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
