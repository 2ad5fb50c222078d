"""A server that the database refuses often: `python -m tests.histories.conflicting serve ...`.

A quarter of all that it sends ends with a real error 40001 of PostgreSQL, raised behind the statements or in the place
of a COMMIT."""

from random import Random

from sandbox.cli import main
from sandbox.storage import postgres_database
from sandbox.storage.database import Row

SHARE = 0.25
MESSAGE = "a conflict that the tests ordered"
RAISE = f"DO $$ BEGIN RAISE EXCEPTION '{MESSAGE}' USING ERRCODE = 'serialization_failure'; END $$"

send = postgres_database._fetch_rows
random = Random()


def send_or_conflict(connection: postgres_database._BoundedConnection, query: str, values: Row) -> list[Row]:
    if random.random() < SHARE:
        query = f"{query.removesuffix('COMMIT').rstrip('; ')}; {RAISE}"
    return send(connection, query, values)


if __name__ == "__main__":
    postgres_database._fetch_rows = send_or_conflict
    main()
