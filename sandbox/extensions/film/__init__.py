"""A world as a film: one HTML file in which its calls, its customers' screens and its payments' states are replayed."""

from sandbox.extensions.film.page import render_film as render_film
