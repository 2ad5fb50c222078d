"""Plays the steps of scenarios over HTTP, and tells what held."""
