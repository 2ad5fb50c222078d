"""What the consent pages say (service 4.7, choice 8)."""

CONSENT_WORDS: dict[str, tuple[str, str]] = {
    "login.asks consent": (
        "{tpp} vous demande l’autorisation de consulter vos comptes.",
        "{tpp} vraagt uw toestemming om uw rekeningen te raadplegen.",
    ),
    "login.asks renewal": (
        "{tpp} vous demande de vous identifier à nouveau pour continuer à consulter vos comptes.",
        "{tpp} vraagt u om u opnieuw te identificeren om uw rekeningen te blijven raadplegen.",
    ),
    "accounts.title": ("Choisissez les comptes", "Kies de rekeningen"),
    "accounts.lead": (
        "Quels comptes {tpp} peut-il consulter ? Choisissez-en un ou plusieurs.",
        "Welke rekeningen mag {tpp} raadplegen? Kies er een of meer.",
    ),
    "accounts.none": (
        "Aucun de vos comptes n’est accessible par nos canaux électroniques. "
        "Vous pouvez refuser, ou vous identifier autrement.",
        "Geen van uw rekeningen is toegankelijk via onze elektronische kanalen. "
        "U kunt weigeren, of u anders aanmelden.",
    ),
    "choose.accounts": ("Choisissez au moins un compte.", "Kies minstens één rekening."),
    "review.title consent": ("Vérifiez l’autorisation", "Controleer de toestemming"),
    "review.title renewal": ("Prolongez l’accès", "Verleng de toegang"),
    "review.intro consent": (
        "Lisez ce que vous autorisez avant de confirmer.",
        "Lees wat u toestaat voor u bevestigt.",
    ),
    "review.intro renewal": (
        "Vous avez déjà donné cette autorisation. En vous identifiant à nouveau, vous la laissez telle quelle : mêmes "
        "comptes, même date de fin.",
        "U hebt deze toestemming al gegeven. Door u opnieuw te identificeren laat u ze ongewijzigd: dezelfde "
        "rekeningen, dezelfde einddatum.",
    ),
    "review.submit consent": ("Continuer vers la confirmation", "Verder naar bevestigen"),
    "review.submit renewal": ("Continuer vers la confirmation", "Verder naar bevestigen"),
    "consent.accounts": ("Comptes consultés", "Te raadplegen rekeningen"),
    "consent.tpp": ("Demandée par", "Gevraagd door"),
    "consent.sees": ("Ce qui est visible", "Wat zichtbaar is"),
    "consent.sees AIS": (
        "Le type, le numéro, le solde et les opérations de ces comptes",
        "Het type, het nummer, het saldo en de verrichtingen van deze rekeningen",
    ),
    "consent.sees CAF": (
        "Le type, le numéro et le solde de ce compte, mais pas ses opérations",
        "Het type, het nummer en het saldo van deze rekening, maar niet de verrichtingen",
    ),
    "consent.life": ("Durée", "Duur"),
    "consent.for": ("{days}, jusqu’au {until}", "{days}, tot {until}"),
    "consent.until": ("Jusqu’au {until}", "Tot {until}"),
    "consent.again": ("Nouvelle identification", "Opnieuw identificeren"),
    "consent.every": ("Après {days}, pour les opérations", "Na {days}, voor de verrichtingen"),
    "days": ("{count} jours", "{count} dagen"),
    "days one": ("{count} jour", "{count} dag"),
    "consent.promise": (
        "{tpp} ne peut pas effectuer de paiements avec cette autorisation. Vous pouvez la retirer à tout moment dans "
        "votre espace bancaire.",
        "{tpp} kan met deze toestemming geen betalingen doen. U kunt ze op elk moment intrekken in uw bankomgeving.",
    ),
    "consent.replaces": (
        "Elle remplacera l’autorisation que vous avez donnée le {date}.",
        "Ze vervangt de toestemming die u op {date} gaf.",
    ),
    "consent.choose_again": ("Choisir d’autres comptes", "Andere rekeningen kiezen"),
    "consent.drawn": ("Autorisation", "Toestemming"),
    "code.title consent": ("Confirmez avec votre lecteur de carte", "Bevestig met uw kaartlezer"),
    "code.title renewal": ("Confirmez avec votre lecteur de carte", "Bevestig met uw kaartlezer"),
    "code.submit consent": ("Donner l’autorisation", "Toestemming geven"),
    "code.submit renewal": ("Confirmer", "Bevestigen"),
    "code.back consent": ("Revoir l’autorisation", "De toestemming nalezen"),
    "code.back renewal": ("Revoir l’autorisation", "De toestemming nalezen"),
    "refuse consent": ("Refuser l’autorisation", "De toestemming weigeren"),
    "refuse renewal": ("Ne pas confirmer", "Niet bevestigen"),
    # Pages that end a visit
    "outdated.text consent": (
        "Vous aviez quelques minutes pour répondre ; ce délai est écoulé. Aucune autorisation n’a été donnée. "
        "Retournez chez {tpp} et recommencez.",
        "U had enkele minuten om te antwoorden; die tijd is verstreken. Er is geen toestemming gegeven. "
        "Ga terug naar {tpp} en begin opnieuw.",
    ),
    "outdated.text renewal": (
        "Vous aviez quelques minutes pour répondre ; ce délai est écoulé. "
        "Votre autorisation reste telle qu’elle était. Retournez chez {tpp} et recommencez.",
        "U had enkele minuten om te antwoorden; die tijd is verstreken. Uw toestemming blijft zoals ze was. "
        "Ga terug naar {tpp} en begin opnieuw.",
    ),
    "signed.title renewal": ("Vous avez déjà confirmé", "U hebt al bevestigd"),
    "signed.text renewal": (
        "Votre identification est enregistrée, vous n’avez plus rien à faire ici. Vous pouvez retourner chez {tpp}.",
        "Uw identificatie is geregistreerd, u hoeft hier niets meer te doen. U kunt teruggaan naar {tpp}.",
    ),
    "cancelled.title renewal": ("Vous n’avez pas confirmé", "U hebt niet bevestigd"),
    "cancelled.text renewal": (
        "Votre autorisation reste telle qu’elle était. Vous pouvez retourner chez {tpp}.",
        "Uw toestemming blijft zoals ze was. U kunt teruggaan naar {tpp}.",
    ),
    "signed.title consent": ("Vous avez déjà donné cette autorisation", "U hebt deze toestemming al gegeven"),
    "signed.text consent": (
        "Elle est bien enregistrée, vous n’avez plus rien à faire ici. Vous pouvez retourner chez {tpp}.",
        "Ze is geregistreerd, u hoeft hier niets meer te doen. U kunt teruggaan naar {tpp}.",
    ),
    "cancelled.title consent": ("Vous avez refusé cette autorisation", "U hebt deze toestemming geweigerd"),
    "cancelled.text consent": (
        "Par cette adresse, {tpp} n’a reçu aucun accès à vos comptes. Vous pouvez retourner chez {tpp}.",
        "Via dit adres kreeg {tpp} geen toegang tot uw rekeningen. U kunt teruggaan naar {tpp}.",
    ),
    "withdrawn.title": ("Cette autorisation a pris fin", "Deze toestemming is afgelopen"),
    "withdrawn.text": (
        "Elle a été retirée, remplacée, ou sa durée est écoulée : il n’y a plus rien à confirmer. "
        "Vous pouvez retourner chez {tpp}.",
        "Ze werd ingetrokken of vervangen, of de duur ervan is verstreken: er valt niets meer te bevestigen. "
        "U kunt teruggaan naar {tpp}.",
    ),
}
