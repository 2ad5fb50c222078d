"""The reference: what the bank's interface is, made from the tables and the schemas that it runs on."""
