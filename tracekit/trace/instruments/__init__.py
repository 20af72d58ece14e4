"""One binder for each instrument: which tables it reads, and which columns of them."""
