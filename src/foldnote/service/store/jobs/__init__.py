"""Jobs in the database: insert, claim, count, list and end them."""
