"""Gram products, spectrum, inverse, small solvers: the floor that kernels and learners share."""

__all__ = ["errors", "gram", "inverse", "krylov", "spectrum", "tridiagonal"]
