"""Exports a world to one file and imports it: lines of JSON that give the same bank on any machine, byte for byte."""
