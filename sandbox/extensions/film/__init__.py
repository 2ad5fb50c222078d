"""A world as one HTML file in which its calls, screens and states are replayed."""
