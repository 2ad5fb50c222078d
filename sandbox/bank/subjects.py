"""Whatever has a status: what an agenda, a journal or an address speaks of."""

from sandbox.bank.bulk_records import Bulk, Part
from sandbox.bank.contracts import StandingOrder
from sandbox.bank.records import Payment

Initiation = Payment | StandingOrder | Bulk
Subject = Initiation | Part
