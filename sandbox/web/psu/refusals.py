"""The bank's no in the customer's words, in French and in Dutch."""

from sandbox.contract.errors import Refusal
from sandbox.web.psu.words import LANGUAGES, Words

# The bank's no, by the error's name and, where an error has several causes, by which.
REFUSALS: Words = {
    "CODE_WRONG 0": (
        "Trois codes erronés : vous avez été déconnecté. Rien n’a été signé.",
        "Drie foute codes: u bent afgemeld. Er is niets ondertekend.",
    ),
    "CODE_WRONG 1": (
        "Le code est erroné. Il vous reste un seul essai.",
        "De code is fout. U hebt nog één poging.",
    ),
    "CODE_WRONG": (
        "Le code est erroné. Il vous reste {left} essais.",
        "De code is fout. U hebt nog {left} pogingen.",
    ),
    "FUNDS_MISSING": (
        "Les fonds disponibles sur ce compte sont insuffisants pour ce virement.",
        "Op deze rekening staat niet genoeg beschikbaar geld voor deze overschrijving.",
    ),
    "FUNDS_MISSING file": (
        "Les fonds disponibles sur le compte {input} sont insuffisants pour les virements de ce fichier à exécuter "
        "aujourd’hui. Approvisionnez le compte et signez à nouveau, ou refusez le fichier.",
        "Op de rekening {input} staat niet genoeg beschikbaar geld voor de overschrijvingen van dit bestand die "
        "vandaag uitgevoerd worden. Zet geld op de rekening en onderteken opnieuw, of weiger het bestand.",
    ),
    "ACCOUNT_FOREIGN": (
        "Ce compte n’est pas un compte de notre banque.",
        "Deze rekening is geen rekening van onze bank.",
    ),
    "ACCESS_DENIED": (
        "Vous n’êtes pas autorisé à signer pour ce compte.",
        "U bent niet gemachtigd om voor deze rekening te ondertekenen.",
    ),
    "ACCESS_DENIED file": (
        "Vous n’êtes pas autorisé à signer ce fichier.",
        "U bent niet gemachtigd om dit bestand te ondertekenen.",
    ),
    "ACCESS_DENIED consent": (
        "Cette demande concerne les comptes d’un autre client.",
        "Dit verzoek gaat over de rekeningen van een andere klant.",
    ),
    "CHANNEL_CLOSED offline": (
        "Ce compte n’est pas accessible par nos canaux électroniques.",
        "Deze rekening is niet toegankelijk via onze elektronische kanalen.",
    ),
    "CHANNEL_CLOSED blocked": (
        "L’accès à nos canaux électroniques est bloqué pour ce client.",
        "De toegang tot onze elektronische kanalen is voor deze klant geblokkeerd.",
    ),
    "NON_SEPA_BARRED": (
        "Ce compte ne permet pas de virements hors de la zone SEPA.",
        "Deze rekening laat geen overschrijvingen buiten de SEPA-zone toe.",
    ),
    "PROFILE_FORBIDS urgent": (
        "Un virement urgent n’est possible que depuis un compte professionnel.",
        "Een dringende overschrijving kan alleen vanaf een professionele rekening.",
    ),
    "PROFILE_FORBIDS country": (
        "Vos paramètres de sécurité n’autorisent pas les virements vers ce pays ({country}).",
        "Uw veiligheidsinstellingen laten geen overschrijvingen naar dit land toe ({country}).",
    ),
    "PROFILE_FORBIDS daily": (
        "Ce virement dépasserait la limite journalière de ce compte.",
        "Met deze overschrijving zou u de daglimiet van deze rekening overschrijden.",
    ),
    "PROFILE_FORBIDS weekly": (
        "Ce virement dépasserait la limite hebdomadaire de ce compte.",
        "Met deze overschrijving zou u de weeklimiet van deze rekening overschrijden.",
    ),
    "PROFILE_FORBIDS signatures": (
        "Un ordre permanent n’est pas possible depuis un compte qui demande deux signatures.",
        "Een doorlopende opdracht kan niet vanaf een rekening die twee handtekeningen vraagt.",
    ),
    "ALREADY_OVER": (
        "Cette opération n’attend plus de signature.",
        "Deze verrichting wacht niet langer op een handtekening.",
    ),
    "OTHER": ("Votre demande n’a pas pu être acceptée.", "Uw verzoek kon niet worden aanvaard."),
}


def say_refusal(language: str, refusal: Refusal, **facts: object) -> str:
    """The bank's no, in the customer's words; `facts` replaces those that a person reads otherwise."""
    known = {**refusal.facts, **facts}
    name = refusal.error.name
    cause = known.get("which", known.get("left"))
    pair = REFUSALS.get(f"{name} {cause}") or REFUSALS.get(name) or REFUSALS["OTHER"]
    return pair[LANGUAGES.index(language)].format(**known)
