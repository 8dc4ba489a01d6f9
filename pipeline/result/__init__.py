"""Results: rows, the document both ways, and what compares them."""
