"""What a BLEU is: every choice that changes a number, each declared in one row of one table."""
