"""What is true of any bank and has no state: money, IBANs, calendars, recurrence, remittance, PKCE."""
