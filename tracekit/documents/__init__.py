"""What is said: one module per document, as blocks that every form shows."""
