"""How a client does where the bank differs: covering sets of variants, the run, and the verdict."""
