"""The trained models that ship with textrank, a folder each."""
