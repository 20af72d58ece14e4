"""Where models ran: what recordings prove and refute of each compute unit."""
