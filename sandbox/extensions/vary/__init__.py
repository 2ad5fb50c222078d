"""Tests a client against variants of the bank: covering sets, runs and the verdict."""
