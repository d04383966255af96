"""How long the campaign runs: minutes by default, hours with a larger ``CAMPAIGN_INPUTS``."""

import os

INPUTS = int(os.environ.get("CAMPAIGN_INPUTS", "300"))  # a reader, a component, a cfg
SEED = os.environ.get("CAMPAIGN_SEED", "0")  # another one draws other inputs
