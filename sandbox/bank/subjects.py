"""The types of subjects: everything that has a status."""

from sandbox.bank.bulk_records import Bulk, Part
from sandbox.bank.records import Payment
from sandbox.bank.standing_order_records import StandingOrder

Initiation = Payment | StandingOrder | Bulk
Subject = Initiation | Part
