"""The reference client of a third party (TPP). Its class `Client` uses only the bank's interface, and `Controls` the
sandbox's controls."""

from sandbox.client.bodies import earlier_payment_body as earlier_payment_body
from sandbox.client.bodies import payment_body as payment_body
from sandbox.client.bodies import standing_order_body as standing_order_body
from sandbox.client.controls import ClockFace as ClockFace
from sandbox.client.controls import Controls as Controls
from sandbox.client.controls import NoCallback as NoCallback
from sandbox.client.copies import AccountCopy as AccountCopy
from sandbox.client.copies import CopiedLine as CopiedLine
from sandbox.client.flows import CallbackRefused as CallbackRefused
from sandbox.client.flows import Flow as Flow
from sandbox.client.flows import ForeignCallback as ForeignCallback
from sandbox.client.flows import code_from as code_from
from sandbox.client.flows import new_flow as new_flow
from sandbox.client.flows import returned as returned
from sandbox.client.records import AccountEntry as AccountEntry
from sandbox.client.records import AccountInfo as AccountInfo
from sandbox.client.records import BatchInfo as BatchInfo
from sandbox.client.records import CompartmentInfo as CompartmentInfo
from sandbox.client.records import ConsentAddresses as ConsentAddresses
from sandbox.client.records import Initiation as Initiation
from sandbox.client.records import PathKind as PathKind
from sandbox.client.records import Reference as Reference
from sandbox.client.records import StatusInfo as StatusInfo
from sandbox.client.records import Tokens as Tokens
from sandbox.client.records import TransactionInfo as TransactionInfo
from sandbox.client.records import TransactionList as TransactionList
from sandbox.client.tpp import Client as Client
from sandbox.client.transport import VERSIONS as VERSIONS
from sandbox.client.transport import ClientReply as ClientReply
from sandbox.client.transport import HttpCaller as HttpCaller
from sandbox.client.transport import Manual as Manual
from sandbox.client.transport import Refused as Refused
from sandbox.client.transport import Signer as Signer
from sandbox.client.transport import Unreadable as Unreadable
