"""What makes a short run cheap: fewer imports, fewer searches, memory that is kept."""
