"""Train the submodel of status: ``python -m workshop.build ppi/status DATA``."""

from pathlib import Path

from workshop.statements import main

if __name__ == "__main__":
    main(Path(__file__).parent)
