"""The reference of the bank's interface, made from the tables and the schemas that the interface uses itself."""
