"""Functions about money, IBANs, calendars, recurrence, remittance and PKCE. They hold for any bank and have no
state."""
