"""What the screens say of standing orders and of files (service 2.2, 2.3)."""

ORDER_WORDS: dict[str, tuple[str, str]] = {
    # A standing order, a file
    "login.asks order": (
        "{tpp} vous demande de signer un ordre permanent.",
        "{tpp} vraagt u een doorlopende opdracht te ondertekenen.",
    ),
    "login.asks bulk": (
        "{tpp} vous demande de signer un fichier de virements.",
        "{tpp} vraagt u een bestand met overschrijvingen te ondertekenen.",
    ),
    "account.paying order": (
        "Ordre permanent : {amount}, à {creditor}",
        "Doorlopende opdracht: {amount}, aan {creditor}",
    ),
    "account.paying bulk": ("Fichier de {amount}, {creditor}", "Bestand van {amount}, {creditor}"),
    "review.title order": ("Vérifiez l’ordre permanent", "Controleer de doorlopende opdracht"),
    "review.title bulk": ("Vérifiez le fichier de virements", "Controleer het bestand met overschrijvingen"),
    "review.intro bulk": (
        "Relisez attentivement les comptes et les montants avant de signer.",
        "Lees de rekeningen en de bedragen aandachtig na voor u ondertekent.",
    ),
    "refuse order": ("Refuser l’ordre permanent", "De doorlopende opdracht weigeren"),
    "refuse bulk": ("Refuser le fichier", "Het bestand weigeren"),
    "code.back order": ("Revoir l’ordre permanent", "De doorlopende opdracht nalezen"),
    "code.back bulk": ("Revoir le fichier", "Het bestand nalezen"),
    "order.variable": ("Montant variable", "Variabel bedrag"),
    "review.formula": ("Montant de chaque exécution", "Bedrag van elke uitvoering"),
    "order.everything": (
        "Tout le solde disponible du compte",
        "Het volledige beschikbare saldo van de rekening",
    ),
    "order.above": (
        "Ce qui dépasse {minimal} sur le compte",
        "Wat er boven {minimal} op de rekening staat",
    ),
    "order.up_to": (
        "Le solde disponible du compte, avec un maximum de {maximal}",
        "Het beschikbare saldo van de rekening, met een maximum van {maximal}",
    ),
    "order.between": (
        "Ce qui dépasse {minimal} sur le compte, avec un maximum de {maximal}",
        "Wat er boven {minimal} op de rekening staat, met een maximum van {maximal}",
    ),
    "review.frequency": ("Périodicité", "Periodiciteit"),
    "review.first": ("Première exécution", "Eerste uitvoering"),
    "review.end": ("Fin", "Einde"),
    "review.closed_days": ("Jours de fermeture", "Sluitingsdagen"),
    "order.next_day": (
        "Une exécution prévue un jour de fermeture a lieu le jour ouvrable bancaire suivant, dans la même année.",
        "Een uitvoering die op een sluitingsdag valt, gebeurt de volgende bankwerkdag, in hetzelfde jaar.",
    ),
    "order.previous_day": (
        "Une exécution prévue un jour de fermeture a lieu le jour ouvrable bancaire précédent, dans la même année.",
        "Een uitvoering die op een sluitingsdag valt, gebeurt de vorige bankwerkdag, in hetzelfde jaar.",
    ),
    "order.shifted": (
        "{on} (jour de fermeture : {planned})",
        "{on} (sluitingsdag: {planned})",
    ),
    "order.endless": ("Sans date de fin", "Zonder einddatum"),
    "order.last": ("{end} ; dernière exécution : {last}", "{end}; laatste uitvoering: {last}"),
    "order.month_day": ("le {day} du mois", "op de {day} van de maand"),
    "order.month_end": (
        "le {day} du mois (le dernier jour d’un mois plus court)",
        "op de {day} van de maand (de laatste dag van een kortere maand)",
    ),
    "WEEKLY": ("Chaque semaine, le {day}", "Elke week, op {day}"),
    "MONTHLY": ("Chaque mois, {day}", "Elke maand, {day}"),
    "TWO_MONTHLY": ("Tous les deux mois, {day}", "Om de twee maanden, {day}"),
    "QUARTERLY": ("Tous les trois mois, {day}", "Om de drie maanden, {day}"),
    "HALF_YEARLY": ("Tous les six mois, {day}", "Om de zes maanden, {day}"),
    "YEARLY": ("Chaque année, le {day}", "Elk jaar, op {day}"),
    "review.transfers": ("Nombre de virements", "Aantal overschrijvingen"),
    "transfers": ("{count} virements", "{count} overschrijvingen"),
    "transfers one": ("{count} virement", "{count} overschrijving"),
    "file.totals": ("Total par compte débité", "Totaal per te debiteren rekening"),
    "file.bulks": ("Lots à exécuter", "Uit te voeren groepen"),
    "file.bulk": ("Lot {name}", "Groep {name}"),
    "file.on": ("Exécution : {date}", "Uitvoering: {date}"),
    "file.from": ("Compte débité :", "Te debiteren rekening:"),
    "file.first": ("Premiers bénéficiaires", "Eerste begunstigden"),
    "file.all": ("Bénéficiaires", "Begunstigden"),
    "file.more": ("et {count} autres bénéficiaires", "en nog {count} begunstigden"),
    "file.more one": ("et {count} autre bénéficiaire", "en nog {count} begunstigde"),
    "file.more_bulks": ("et {count} autres lots", "en nog {count} groepen"),
    "file.more_bulks one": ("et {count} autre lot", "en nog {count} groep"),
    "file.refused": ("Lots refusés par la banque", "Door de bank geweigerde groepen"),
    "file.refused_text": (
        "Ces lots contiennent des erreurs. Ils ne font pas partie de ce que vous signez et ne seront pas exécutés.",
        "Deze groepen bevatten fouten. Ze maken geen deel uit van wat u ondertekent en worden niet uitgevoerd.",
    ),
    "file.faults": ("{count} erreurs", "{count} fouten"),
    "file.faults one": ("{count} erreur", "{count} fout"),
    "file.nameless": ("Lot sans nom", "Groep zonder naam"),
    "outdated.text order": (
        "Vous aviez quelques minutes pour signer ; ce délai est écoulé. L’ordre permanent n’a pas été créé. "
        "Retournez chez {tpp} et recommencez.",
        "U had enkele minuten om te ondertekenen; die tijd is verstreken. De doorlopende opdracht is niet aangemaakt. "
        "Ga terug naar {tpp} en begin opnieuw.",
    ),
    "outdated.text bulk": (
        "Vous aviez quelques minutes pour signer ; ce délai est écoulé. Rien n’a été débité. "
        "Retournez chez {tpp} : une nouvelle adresse vous y attend.",
        "U had enkele minuten om te ondertekenen; die tijd is verstreken. Er is niets gedebiteerd. "
        "Ga terug naar {tpp}: daar krijgt u een nieuw adres.",
    ),
    "signed.title order": ("Cet ordre permanent est déjà signé", "Deze doorlopende opdracht is al ondertekend"),
    "signed.title bulk": ("Ce fichier est déjà signé", "Dit bestand is al ondertekend"),
    "cosigned.title bulk": (
        "Ce fichier attend une autre signature",
        "Dit bestand wacht op een andere handtekening",
    ),
    "cancelled.title order": ("Cet ordre permanent est annulé", "Deze doorlopende opdracht is geannuleerd"),
    "cancelled.title bulk": ("Ce fichier est annulé", "Dit bestand is geannuleerd"),
    "cancelled.text order": (
        "Il a été refusé ou annulé. Rien ne sera plus débité. Vous pouvez retourner chez {tpp}.",
        "Ze werd geweigerd of geannuleerd. Er wordt niets meer gedebiteerd. U kunt teruggaan naar {tpp}.",
    ),
    "cancelled.text bulk": (
        "Il a été refusé ou annulé. Rien ne sera plus débité. Vous pouvez retourner chez {tpp}.",
        "Het werd geweigerd of geannuleerd. Er wordt niets meer gedebiteerd. U kunt teruggaan naar {tpp}.",
    ),
    "ended.title": ("Cet ordre permanent a pris fin", "Deze doorlopende opdracht is afgelopen"),
    "ended.text": (
        "Sa dernière exécution est passée ; rien ne sera plus débité. Vous pouvez retourner chez {tpp}.",
        "De laatste uitvoering is voorbij; er wordt niets meer gedebiteerd. U kunt teruggaan naar {tpp}.",
    ),
    "rejected.title": ("Cette opération a été rejetée", "Deze verrichting is verworpen"),
    "rejected.text": (
        "La banque n’a pas pu l’exécuter. Vous pouvez retourner chez {tpp}.",
        "De bank kon ze niet uitvoeren. U kunt teruggaan naar {tpp}.",
    ),
}
