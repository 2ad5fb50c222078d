"""A world as one file: plain lines of JSON that on any machine give the same bank, byte for byte."""
