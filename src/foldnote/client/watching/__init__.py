"""Follow jobs until they end, and stop them."""
