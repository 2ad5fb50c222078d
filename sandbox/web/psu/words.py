"""Every sentence on the bank's screens, in French and in Dutch (service 4.0)."""

from collections.abc import Mapping

from sandbox.web.psu.channel_words import CHANNEL_WORDS
from sandbox.web.psu.consent_words import CONSENT_WORDS
from sandbox.web.psu.order_words import ORDER_WORDS

LANGUAGES = ("fr", "nl")
NAMES = {"fr": "Français", "nl": "Nederlands"}

Words = Mapping[str, tuple[str, str]]

WORDS: Words = {
    **ORDER_WORDS,
    **CONSENT_WORDS,
    **CHANNEL_WORDS,
    # The frame of every page
    "bank": ("La Banque d’essai", "De Testbank"),
    "band": (
        "Environnement de test : aucun argent n’est transféré.",
        "Testomgeving: er wordt geen geld overgemaakt.",
    ),
    "skip": ("Aller au contenu", "Naar de inhoud"),
    "languages": ("Langue", "Taal"),
    "foot": (
        "Banque fictive : ses clients, ses comptes et ses opérations sont inventés.",
        "Fictieve bank: de klanten, rekeningen en verrichtingen zijn verzonnen.",
    ),
    "error": ("Erreur", "Fout"),
    "step": ("Étape {number} sur {of}", "Stap {number} van {of}"),
    # Log in
    "login.title": ("Identifiez-vous", "Meld u aan"),
    "login.asks": (
        "{tpp} vous demande de signer un virement.",
        "{tpp} vraagt u een overschrijving te ondertekenen.",
    ),
    "login.sandbox": (
        "Votre vraie banque vous demanderait ici votre carte ou votre mot de passe. "
        "Cette banque d’essai n’en a pas : choisissez simplement un client.",
        "Uw echte bank zou u hier uw kaart of uw wachtwoord vragen. "
        "Deze testbank heeft dat niet: kies gewoon een klant.",
    ),
    "login.choose": ("Clients d’essai", "Testklanten"),
    "login.submit": ("Continuer", "Doorgaan"),
    "kind.private": ("Particulier", "Particulier"),
    "kind.business": ("Professionnel", "Professioneel"),
    # Pick an account
    "account.title": ("Choisissez le compte à débiter", "Kies de te debiteren rekening"),
    "account.choose": ("Vos comptes", "Uw rekeningen"),
    "account.paying": ("Virement de {amount} à {creditor}", "Overschrijving van {amount} aan {creditor}"),
    "account.balance": ("Solde", "Saldo"),
    "account.available": ("Disponible", "Beschikbaar"),
    "account.none": (
        "Aucun de vos comptes ne permet ce virement. Vous pouvez le refuser, ou vous identifier autrement.",
        "Geen van uw rekeningen laat deze overschrijving toe. U kunt ze weigeren, of u anders aanmelden.",
    ),
    "account.submit": ("Continuer", "Doorgaan"),
    "current-account": ("Compte à vue", "Zichtrekening"),
    "savings-account": ("Compte d’épargne", "Spaarrekening"),
    # Read the payment
    "review.title": ("Vérifiez le virement", "Controleer de overschrijving"),
    "review.intro": (
        "Relisez attentivement le bénéficiaire et le montant avant de signer.",
        "Lees de begunstigde en het bedrag aandachtig na voor u ondertekent.",
    ),
    "review.amount": ("Montant", "Bedrag"),
    "review.creditor": ("Bénéficiaire", "Begunstigde"),
    "review.creditor_address": ("Adresse du bénéficiaire", "Adres van de begunstigde"),
    "review.creditor_account": ("Compte du bénéficiaire", "Rekening van de begunstigde"),
    "review.creditor_bank": ("Banque du bénéficiaire", "Bank van de begunstigde"),
    "review.debtor": ("Compte débité", "Te debiteren rekening"),
    "review.taken": ("Montant débité", "Gedebiteerd bedrag"),
    "review.communication": ("Communication", "Mededeling"),
    "review.date": ("Exécution", "Uitvoering"),
    "review.kind": ("Type de virement", "Soort overschrijving"),
    "review.charges": ("Frais", "Kosten"),
    "review.purpose": ("Motif du paiement (code)", "Doel van de betaling (code)"),
    "review.reference": ("Référence", "Referentie"),
    "review.tpp": ("Demandé par", "Aangevraagd door"),
    "review.signed": ("Déjà signé par", "Al ondertekend door"),
    "review.none": ("Aucune", "Geen"),
    "review.at_once": ("Aujourd’hui, {date}", "Vandaag, {date}"),
    "review.on": ("Le {date}", "Op {date}"),
    "review.instant": ("Immédiatement, dans les 10 secondes", "Onmiddellijk, binnen 10 seconden"),
    "review.more_signatures": (
        "Ce compte demande {required} signatures. Après la vôtre, les autres se donnent dans l’espace de "
        "signature de la banque.",
        "Deze rekening vraagt {required} handtekeningen. Na de uwe worden de andere gegeven in de "
        "ondertekenmap van de bank.",
    ),
    "review.submit": ("Continuer vers la signature", "Verder naar ondertekenen"),
    "review.another_account": ("Choisir un autre compte", "Een andere rekening kiezen"),
    "review.another_customer": ("S’identifier autrement", "Anders aanmelden"),
    "sepa-credit-transfers": ("Virement européen (SEPA)", "Europese overschrijving (SEPA)"),
    "instant-sepa-credit-transfers": ("Virement instantané (SEPA)", "Instantoverschrijving (SEPA)"),
    "cross-border-credit-transfers": ("Virement international", "Internationale overschrijving"),
    "urgent": ("{product}, urgent", "{product}, dringend"),
    "SHAR": ("Partagés", "Gedeeld"),
    "DEBT": ("À votre charge", "Te uwen laste"),
    "CRED": ("À charge du bénéficiaire", "Ten laste van de begunstigde"),
    # Sign with the card reader
    "code.title": ("Signez avec votre lecteur de carte", "Onderteken met uw kaartlezer"),
    "code.drawn": (
        "Ce lecteur est dessiné : la banque d’essai y affiche elle-même le code.",
        "Deze kaartlezer is getekend: de testbank toont er zelf de code op.",
    ),
    "code.shown": ("Code", "Code"),
    "code.label": ("Code affiché par le lecteur", "Code op de kaartlezer"),
    "code.hint": ("Six chiffres", "Zes cijfers"),
    "code.submit": ("Signer", "Ondertekenen"),
    "code.back": ("Revoir le virement", "De overschrijving nalezen"),
    "refuse": ("Refuser le virement", "De overschrijving weigeren"),
    # Pages that end a visit
    "outdated.title": ("Cette adresse n’est plus valable", "Dit adres is niet langer geldig"),
    "outdated.text": (
        "Vous aviez quelques minutes pour signer ; ce délai est écoulé. Rien n’a été débité. "
        "Retournez chez {tpp} et recommencez.",
        "U had enkele minuten om te ondertekenen; die tijd is verstreken. Er is niets gedebiteerd. "
        "Ga terug naar {tpp} en begin opnieuw.",
    ),
    "signed.title": ("Cette opération est déjà signée", "Deze verrichting is al ondertekend"),
    "signed.text": (
        "Votre signature est bien enregistrée, vous n’avez plus rien à faire ici. Vous pouvez retourner chez {tpp}.",
        "Uw handtekening is geregistreerd, u hoeft hier niets meer te doen. U kunt teruggaan naar {tpp}.",
    ),
    "cosigned.title": (
        "Cette opération attend une autre signature",
        "Deze verrichting wacht op een andere handtekening",
    ),
    "cosigned.text": (
        "La première signature est enregistrée. Les suivantes se donnent dans l’espace de signature de la banque.",
        "De eerste handtekening is geregistreerd. De volgende worden gegeven in de ondertekenmap van de bank.",
    ),
    "cosigned.link": ("Ouvrir l’espace de signature", "De ondertekenmap openen"),
    "cancelled.title": ("Cette opération est annulée", "Deze verrichting is geannuleerd"),
    "cancelled.text": (
        "Elle a été refusée, annulée, ou n’a pas été signée à temps. Rien ne sera débité. "
        "Vous pouvez retourner chez {tpp}.",
        "Ze werd geweigerd, geannuleerd, of niet op tijd ondertekend. Er wordt niets gedebiteerd. "
        "U kunt teruggaan naar {tpp}.",
    ),
    "unknown.title": ("Cette page n’existe pas", "Deze pagina bestaat niet"),
    "unknown.text": (
        "Vérifiez l’adresse, ou retournez chez le prestataire qui vous a envoyé ici.",
        "Controleer het adres, of ga terug naar de dienstverlener die u hierheen stuurde.",
    ),
    "lost.title": ("Votre session est introuvable", "Uw sessie is niet gevonden"),
    "lost.text": (
        "Par sécurité, cette étape n’est possible que dans la fenêtre où vous avez commencé, et avec les cookies "
        "activés. Rien n’a été enregistré. Recommencez depuis le début.",
        "Om veiligheidsredenen kan deze stap alleen in het venster waarin u begonnen bent, en met cookies "
        "ingeschakeld. Er is niets geregistreerd. Begin opnieuw.",
    ),
    "failed.title": ("Cette demande ne peut être traitée", "Dit verzoek kan niet worden verwerkt"),
    "failed.text": (
        "Rien n’a été enregistré. Revenez à la page précédente et recommencez.",
        "Er is niets geregistreerd. Ga terug naar de vorige pagina en begin opnieuw.",
    ),
    # What was typed or chosen
    "choose.customer": ("Choisissez un client dans la liste.", "Kies een klant uit de lijst."),
    "choose.account": ("Choisissez un compte dans la liste.", "Kies een rekening uit de lijst."),
    "type.code": ("Tapez les six chiffres affichés par le lecteur.", "Typ de zes cijfers die op de kaartlezer staan."),
}


def say(language: str, key: str, kind: str = "", **facts: object) -> str:
    """A sentence in that language; some speak otherwise of a standing order, a file, a consent, or of one."""
    pair = WORDS.get(f"{key} {kind}") or WORDS[key]
    return pair[LANGUAGES.index(language)].format(**facts)
