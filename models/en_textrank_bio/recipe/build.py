"""Trains this pipeline and scores it: ``build.py DATA OUT``; its settings stand in workshop."""

from __future__ import annotations

import typer
from workshop.train import main

typer.run(main)
