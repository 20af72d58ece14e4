"""What a recording means: its tables as rows with models, predictions and links."""
