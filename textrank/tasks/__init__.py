"""Doc -> candidates, scores -> Doc, gold -> Report; one module a task."""
