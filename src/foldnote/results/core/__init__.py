"""What every part of a result needs: messages, HTML representation, lazy parts, numeric arrays."""
