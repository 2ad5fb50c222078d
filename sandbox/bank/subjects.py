"""Whatever has a status: what an agenda, a journal or an address speaks of."""

from sandbox.bank.bulk_records import Bulk, Part
from sandbox.bank.records import Payment
from sandbox.bank.standing_order_records import StandingOrder

Initiation = Payment | StandingOrder | Bulk
Subject = Initiation | Part
