"""Gram or feature matrix -> Fit. Knows arrays, not text."""

__all__ = [
    "blockwise",
    "calibration",
    "cg",
    "document_stage",
    "fit",
    "g2p",
    "greedy",
    "kernel_weights",
    "multiclass",
    "pairs",
    "rankrls",
    "ranksvm",
    "reduced",
    "rls",
    "update",
]
