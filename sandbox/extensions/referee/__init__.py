"""The referee: a table of rules over the stream of calls that finds mistakes in a TPP's client."""
