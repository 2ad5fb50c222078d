"""Functions about money, IBANs, calendars, recurrence, remittance and PKCE. They apply to any bank and have no
state."""
