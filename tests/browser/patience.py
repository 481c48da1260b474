"""How long browser tests wait for what a busy machine does late; what they wait for ends the wait."""

PATIENCE_S = 300
PATIENCE_MS = 1000 * PATIENCE_S
