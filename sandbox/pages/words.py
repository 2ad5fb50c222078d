"""Every sentence on the bank's screens, in French and in Dutch (service 4.0)."""

from collections.abc import Mapping

from sandbox.errors import Refusal

LANGUAGES = ("fr", "nl")
NAMES = {"fr": "Français", "nl": "Nederlands"}

Words = Mapping[str, tuple[str, str]]

WORDS: Words = {
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
    "urgent": ("{kind}, urgent", "{kind}, dringend"),
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
    # The bank's own channel
    "channel.title": ("À signer", "Te ondertekenen"),
    "channel.login": (
        "Retrouvez ici les virements qui attendent votre signature.",
        "Hier vindt u de overschrijvingen die op uw handtekening wachten.",
    ),
    "channel.hello": ("Bonjour {name}", "Dag {name}"),
    "channel.nothing": (
        "Aucun virement n’attend votre signature.",
        "Er wacht geen enkele overschrijving op uw handtekening.",
    ),
    "channel.list": ("Virements à signer", "Te ondertekenen overschrijvingen"),
    "channel.to": ("à {creditor}", "aan {creditor}"),
    "channel.from": ("depuis {account}", "van {account}"),
    "channel.open": ("Lire et signer", "Lezen en ondertekenen"),
    "channel.back": ("Retour à la liste", "Terug naar de lijst"),
    "channel.leave": ("Se déconnecter", "Afmelden"),
    "channel.signed": (
        "Vous avez signé. Le virement va être exécuté.",
        "U hebt ondertekend. De overschrijving wordt uitgevoerd.",
    ),
    "channel.waiting": (
        "Vous avez signé. Le virement attend encore une autre signature.",
        "U hebt ondertekend. De overschrijving wacht nog op een andere handtekening.",
    ),
    # Pages that end a visit
    "outdated.title": ("Cette adresse n’est plus valable", "Dit adres is niet langer geldig"),
    "outdated.text": (
        "Vous aviez quelques minutes pour signer ; ce délai est écoulé. Rien n’a été débité. "
        "Retournez chez {tpp} et recommencez.",
        "U had enkele minuten om te ondertekenen; die tijd is verstreken. Er is niets gedebiteerd. "
        "Ga terug naar {tpp} en begin opnieuw.",
    ),
    "signed.title": ("Ce virement est déjà signé", "Deze overschrijving is al ondertekend"),
    "signed.text": (
        "Votre signature est bien enregistrée, vous n’avez plus rien à faire ici. Vous pouvez retourner chez {tpp}.",
        "Uw handtekening is geregistreerd, u hoeft hier niets meer te doen. U kunt teruggaan naar {tpp}.",
    ),
    "cosigned.title": (
        "Ce virement attend une autre signature",
        "Deze overschrijving wacht op een andere handtekening",
    ),
    "cosigned.text": (
        "La première signature est enregistrée. Les suivantes se donnent dans l’espace de signature de la banque.",
        "De eerste handtekening is geregistreerd. De volgende worden gegeven in de ondertekenmap van de bank.",
    ),
    "cosigned.link": ("Ouvrir l’espace de signature", "De ondertekenmap openen"),
    "cancelled.title": ("Ce virement est annulé", "Deze overschrijving is geannuleerd"),
    "cancelled.text": (
        "Il a été refusé, annulé, ou n’a pas été signé à temps. Rien ne sera débité. Vous pouvez retourner chez {tpp}.",
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
        "activés. Rien n’a été signé. Recommencez depuis le début.",
        "Om veiligheidsredenen kan deze stap alleen in het venster waarin u begonnen bent, en met cookies "
        "ingeschakeld. Er is niets ondertekend. Begin opnieuw.",
    ),
    "failed.title": ("Cette demande ne peut être traitée", "Dit verzoek kan niet worden verwerkt"),
    "failed.text": (
        "Rien n’a été signé. Revenez à la page précédente et recommencez.",
        "Er is niets ondertekend. Ga terug naar de vorige pagina en begin opnieuw.",
    ),
    # What was typed or chosen
    "choose.customer": ("Choisissez un client dans la liste.", "Kies een klant uit de lijst."),
    "choose.account": ("Choisissez un compte dans la liste.", "Kies een rekening uit de lijst."),
    "type.code": ("Tapez les six chiffres affichés par le lecteur.", "Typ de zes cijfers die op de kaartlezer staan."),
}

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
    "ACCOUNT_FOREIGN": (
        "Ce compte n’est pas un compte de notre banque.",
        "Deze rekening is geen rekening van onze bank.",
    ),
    "ACCESS_DENIED": (
        "Vous n’êtes pas autorisé à signer pour ce compte.",
        "U bent niet gemachtigd om voor deze rekening te ondertekenen.",
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
    "ALREADY_OVER": (
        "Ce virement n’attend plus de signature.",
        "Deze overschrijving wacht niet langer op een handtekening.",
    ),
    "OTHER": ("Votre demande n’a pas pu être acceptée.", "Uw verzoek kon niet worden aanvaard."),
}


def say(language: str, key: str, **facts: object) -> str:
    """A sentence in that language."""
    return WORDS[key][LANGUAGES.index(language)].format(**facts)


def say_refusal(language: str, refusal: Refusal, **facts: object) -> str:
    """The bank's no, in the customer's words; `facts` replaces those that a person reads otherwise."""
    known = {**refusal.facts, **facts}
    name = refusal.error.name
    cause = known.get("which", known.get("left"))
    pair = REFUSALS.get(f"{name} {cause}") or REFUSALS.get(name) or REFUSALS["OTHER"]
    return pair[LANGUAGES.index(language)].format(**known)
