"""How the shipped models are made, from corpora that users do not have; not in the wheel."""
