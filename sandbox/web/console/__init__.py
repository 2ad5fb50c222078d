"""The console: web pages on which a tester sees and changes a world (choice 10)."""
