"""What the bank's own channel says (service 1, choice 8)."""

CHANNEL_WORDS: dict[str, tuple[str, str]] = {
    "channel.title": ("Votre espace bancaire", "Uw bankomgeving"),
    "channel.to_sign": ("À signer", "Te ondertekenen"),
    "channel.login": (
        "Retrouvez ici les opérations qui attendent votre signature, et les prestataires qui peuvent consulter vos "
        "comptes.",
        "Hier vindt u de verrichtingen die op uw handtekening wachten, en de dienstverleners die uw rekeningen mogen "
        "raadplegen.",
    ),
    "channel.hello": ("Bonjour {name}", "Dag {name}"),
    "channel.nothing": (
        "Aucune opération n’attend votre signature.",
        "Er wacht geen enkele verrichting op uw handtekening.",
    ),
    "channel.list": ("Opérations à signer", "Te ondertekenen verrichtingen"),
    "channel.to": ("à {creditor}", "aan {creditor}"),
    "channel.from": ("depuis {account}", "van {account}"),
    "channel.open": ("Lire et signer", "Lezen en ondertekenen"),
    "channel.back": ("Retour à la liste", "Terug naar de lijst"),
    "channel.leave": ("Se déconnecter", "Afmelden"),
    "channel.signed": (
        "Vous avez signé. L’opération va être exécutée.",
        "U hebt ondertekend. De verrichting wordt uitgevoerd.",
    ),
    "channel.waiting": (
        "Vous avez signé. L’opération attend encore une autre signature.",
        "U hebt ondertekend. De verrichting wacht nog op een andere handtekening.",
    ),
    "channel.withdrawn": (
        "L’autorisation est retirée. Ce prestataire ne peut plus consulter vos comptes avec elle.",
        "De toestemming is ingetrokken. Deze dienstverlener kan er uw rekeningen niet meer mee raadplegen.",
    ),
    "channel.allowed": ("Qui peut consulter vos comptes", "Wie uw rekeningen mag raadplegen"),
    "channel.nobody": (
        "Vous n’avez autorisé aucun prestataire à consulter vos comptes.",
        "U hebt geen enkele dienstverlener toestemming gegeven om uw rekeningen te raadplegen.",
    ),
    "channel.sees AIS": ("Solde et opérations", "Saldo en verrichtingen"),
    "channel.sees CAF": ("Solde d’un compte", "Saldo van één rekening"),
    "channel.accounts": ("Comptes", "Rekeningen"),
    "channel.since": ("Depuis le", "Sinds"),
    "channel.until": ("Jusqu’au", "Tot"),
    "channel.what": ("Accès", "Toegang"),
    "channel.withdraw": ("Retirer l’autorisation", "Toestemming intrekken"),
    "channel.withdraw_from": ("donnée à {tpp}", "gegeven aan {tpp}"),
    "withdraw.title": ("Retirer cette autorisation ?", "Deze toestemming intrekken?"),
    "withdraw.text": (
        "{tpp} perdra tout de suite l’accès à ces comptes. Pour le rétablir, vous devrez donner une nouvelle "
        "autorisation.",
        "{tpp} verliest onmiddellijk de toegang tot deze rekeningen. Om die te herstellen moet u een nieuwe "
        "toestemming geven.",
    ),
    "withdraw.submit": ("Oui, retirer l’autorisation", "Ja, de toestemming intrekken"),
    "withdraw.tpp": ("Donnée à", "Gegeven aan"),
}
