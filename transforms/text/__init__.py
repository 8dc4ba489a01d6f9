"""How texts become tokens: all choices, and the compiled code for them."""
