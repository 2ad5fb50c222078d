"""The tables of a bank in PostgreSQL: those of a state file, with which server has which world.

Plain SQL of any engine that speaks PostgreSQL's protocol: no extension, no advisory lock, nothing that a session keeps.
"""

from sandbox.world.log.format import OF_A_WORLD, VERSION

__all__ = ["OF_A_WORLD", "TABLES", "VERSION"]

TABLES = (
    "CREATE TABLE about (format TEXT NOT NULL, version INTEGER NOT NULL, program TEXT NOT NULL, mark BIGINT NOT NULL)",
    # A row for each server that lives. An id is never used again: a server whose row is gone has lost all its worlds.
    """CREATE TABLE servers (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, address TEXT NOT NULL,
  until TIMESTAMPTZ NOT NULL)""",
    """CREATE TABLE worlds (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name TEXT COLLATE "C" NOT NULL UNIQUE,
  beginning BYTEA NOT NULL, mark BIGINT NOT NULL)""",
    # Owner and epoch stand in the row that every write of a world changes: a write and a take-over wait for each other.
    """CREATE TABLE heads (world BIGINT PRIMARY KEY, pace BYTEA NOT NULL, faults BYTEA, noted BIGINT NOT NULL,
  acts BIGINT NOT NULL, head BIGINT NOT NULL, mark BIGINT NOT NULL, owner BIGINT, epoch BIGINT NOT NULL)""",
    """CREATE TABLE acts (world BIGINT NOT NULL, number BIGINT NOT NULL, at TEXT NOT NULL, verb TEXT NOT NULL,
  given BYTEA NOT NULL, made BIGINT NOT NULL, mark BIGINT NOT NULL, PRIMARY KEY (world, number))""",
    """CREATE TABLE checkpoints (world BIGINT PRIMARY KEY, acts BIGINT NOT NULL, head BIGINT NOT NULL,
  shape TEXT NOT NULL, content BYTEA NOT NULL, mark BIGINT NOT NULL)""",
    """CREATE TABLE pieces (world BIGINT NOT NULL, acts BIGINT NOT NULL, number BIGINT NOT NULL,
  content BYTEA NOT NULL, UNIQUE (world, acts, number))""",
    "CREATE TABLE clock (latest DOUBLE PRECISION NOT NULL, mark BIGINT NOT NULL)",
    "CREATE TABLE aside (world BIGINT PRIMARY KEY, content BYTEA NOT NULL, mark BIGINT NOT NULL)",
)
