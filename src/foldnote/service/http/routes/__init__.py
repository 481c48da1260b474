"""The routes, one noun a file. They read a request, ask the rooms behind them, and write the answer."""
