"""What a BLEU is: every choice that changes a number."""
