"""Gram products, spectrum, inverse, small solvers: the floor that kernels and learners share."""
