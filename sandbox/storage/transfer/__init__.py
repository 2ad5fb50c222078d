"""Exports a world to one file, and imports it. The file has lines of JSON. The imported bank equals the exported one
byte for byte, on any machine."""
