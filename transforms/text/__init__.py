"""How texts become tokens: every choice, and the compiled code that makes it."""
