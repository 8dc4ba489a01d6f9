"""WER and CER, the error rates of words and of characters: what only this family has."""
