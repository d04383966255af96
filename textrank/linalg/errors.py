"""What is said of a matrix that is no kernel."""

from __future__ import annotations


def not_psd(evidence: str) -> ValueError:
    """The error of a Gram matrix that no feature map can have."""
    return ValueError(
        f"the Gram matrix is not positive semi-definite: {evidence}. It is not a kernel; "
        "shift its eigenvalues, or use its rows as features."
    )
