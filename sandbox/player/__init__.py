"""Plays the steps of scenario files over HTTP, and reports which expectations were met."""
