"""What makes a short run cheap: less to import, to look for and to free."""
