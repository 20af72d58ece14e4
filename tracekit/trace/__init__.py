"""What a recording means: its tables as frames with models, predictions and links."""
