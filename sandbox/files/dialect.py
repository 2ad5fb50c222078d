"""The paths of the two versions of pain.001."""

from typing import Any

from sandbox.files.checks import EUR, Order, Sum
from sandbox.files.schemas import NAMESPACE

PATHS = {
    "creditor_name": "Cdtr/Nm",
    "creditor_iban": "CdtrAcct/Id/IBAN",
    "creditor_bic": "CdtrAgt/FinInstnId/BIC",
    "amount": "Amt/InstdAmt",
    "currency": "Amt/InstdAmt",
    "equivalent": "Amt/EqvtAmt",
    "endtoend_identification": "PmtId/EndToEndId",
    "structured": "RmtInf/Strd/CdtrRefInf/Ref",
    "unstructured": "RmtInf/Ustrd",
    "instruction": "PmtId/InstrId",
    "charge_bearer": "ChrgBr",
}
NEWER = {"creditor_bic": "CdtrAgt/FinInstnId/BICFI"}
DATES = {"pain.001.001.03": "ReqdExctnDt", "pain.001.001.09": "ReqdExctnDt/Dt"}


class Dialect:
    """How one version spells the paths; those of a transaction are made once, as they are asked so often."""

    def __init__(self, version: str) -> None:
        self._prefix = f"{{{NAMESPACE}{version}}}"
        self.places = PATHS if version == "pain.001.001.03" else PATHS | NEWER
        self.date = DATES[version]
        self.debtor_bic = f"DbtrAgt/FinInstnId/{self.places['creditor_bic'].rpartition('/')[2]}"
        self._paths = {name: self.path(place) for name, place in self.places.items()}
        self._remittance = self.path("RmtInf")
        self._structured = self.path("Strd")
        self._reference = self.path("CdtrRefInf/Ref")
        self._unstructured = self.path("Ustrd")
        self._service_level = self.path("PmtTpInf/SvcLvl")

    def path(self, path: str) -> str:
        return "/".join(self._prefix + step for step in path.split("/"))

    def text(self, element: Any, path: str) -> str:
        """The text at a path; empty where there is none."""
        return str(element.findtext(self.path(path), ""))

    def order(self, place: str, element: Any) -> Order:
        """The transfer as a transaction spells it, whether the schema takes it or not."""
        paths = self._paths
        amount = element.find(paths["amount"])
        parts = element.find(self._remittance)
        parts = () if parts is None else parts
        return Order(
            place,
            element.findtext(paths["creditor_name"], ""),
            element.findtext(paths["creditor_iban"], ""),
            element.findtext(paths["creditor_bic"], ""),
            "" if amount is None else (amount.text or "").strip(),
            "" if amount is None else amount.get("Ccy", ""),
            element.findtext(paths["endtoend_identification"], ""),
            [part.findtext(self._reference) for part in parts if part.tag == self._structured],
            [part.text or "" for part in parts if part.tag == self._unstructured],
            element.findtext(paths["instruction"], ""),
            element.findtext(paths["charge_bearer"], ""),
            self.levels_asked(element),
            amount is None and element.find(paths["equivalent"]) is not None,
        )

    def levels_asked(self, element: Any) -> list[str]:
        """The codes of a bulk or a transaction; the newer version may give several."""
        found = element.findall(self._service_level)
        return [level.findtext(self.path("Cd")) or "a level of one's own (Prtry)" for level in found]


class Head:
    """The fields of a bulk that precede its transactions."""

    def __init__(self, element: Any, dialect: Dialect, counted: Sum) -> None:
        def text(path: str) -> str:
            return dialect.text(element, path).strip()

        self.name, self.method, self.counted = text("PmtInfId"), text("PmtMtd"), counted
        self.iban, self.currency = text("DbtrAcct/Id/IBAN"), text("DbtrAcct/Ccy") or EUR
        self.number, self.total = text("NbOfTxs"), text("CtrlSum")
        self.booking = text("BtchBookg") in ("true", "1")
        self.charge_bearer, self.debtor_bic = text("ChrgBr"), text(dialect.debtor_bic)
        self.service_levels = dialect.levels_asked(element)
        self.is_moment = bool(text(f"{dialect.date}Tm"))
        # A schema date may name a zone, which says nothing about a banking day.
        self.day = text(dialect.date)[:10]
