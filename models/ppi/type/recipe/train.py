"""Train the submodel of type: ``python -m workshop.build ppi/type DATA``."""

from pathlib import Path

from workshop.statements import main

if __name__ == "__main__":
    main(Path(__file__).parent)
