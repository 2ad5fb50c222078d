"""Functions about money, IBANs, calendars, recurrence, remittance and PKCE. They are true of any bank and have no
state."""
