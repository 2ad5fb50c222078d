"""Lifts a scenario from recorded traffic: a HAR file becomes people and steps, without anybody's real data."""
