"""Trains this pipeline and scores it: ``build.py DATA OUT``; its settings stand in workshop."""

from __future__ import annotations

import typer
from workshop.mirror import main

typer.run(main)
