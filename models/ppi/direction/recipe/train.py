"""Train the submodel of direction: ``python -m workshop.build ppi/direction DATA``."""

from pathlib import Path

from workshop.statements import main

if __name__ == "__main__":
    main(Path(__file__).parent)
