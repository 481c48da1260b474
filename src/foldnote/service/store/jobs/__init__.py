"""Jobs in the database: inserted, claimed, counted, listed, ended."""
