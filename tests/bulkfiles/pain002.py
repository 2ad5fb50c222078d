"""Reads a pain.002 as others do: with the schema of ISO 20022, and with the classes of the library pyiso20022."""

from functools import cache
from pathlib import Path
from typing import Any

from lxml import etree
from pyiso20022.pain import pain_002_001_03, pain_002_001_10
from xsdata.formats.dataclass.parsers import XmlParser

SCHEMAS = Path(__file__).parents[1] / "data" / "schemas"
DOCUMENTS = {
    "pain.002.001.03": pain_002_001_03.Document,
    "pain.002.001.10": pain_002_001_10.Document,
}


@cache
def schema_of(version: str) -> Any:
    return etree.XMLSchema(etree.parse(SCHEMAS / f"{version}.xsd"))


def read(content: bytes, version: str) -> Any:
    """The message. The reader refuses an element that it does not know."""
    schema_of(version).assertValid(etree.fromstring(content))
    return XmlParser().from_bytes(content, DOCUMENTS[version]).cstmr_pmt_sts_rpt


def statuses(message: Any) -> list[str]:
    """The status of the group, then that of each bulk, each followed by those of its transactions."""
    found = [message.orgnl_grp_inf_and_sts.grp_sts]
    for batch in message.orgnl_pmt_inf_and_sts:
        found += [batch.pmt_inf_sts, *(one.tx_sts for one in batch.tx_inf_and_sts)]
    return [getattr(status, "value", status) for status in found]


def reasons(item: Any) -> list[str]:
    """The reason codes of a group, a bulk or a transaction."""
    return [reason.rsn.cd or reason.rsn.prtry for reason in item.sts_rsn_inf]


def counts(item: Any) -> dict[str, int]:
    """How many transactions of a group or a bulk have each status."""
    return {getattr(one.dtld_sts, "value", one.dtld_sts): int(one.dtld_nb_of_txs) for one in item.nb_of_txs_per_sts}
