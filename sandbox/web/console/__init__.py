"""The console: web pages on which a tester sees and moves a world (choice 10)."""
