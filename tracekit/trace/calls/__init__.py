"""Calls of Core ML that its own table does not hold: joined from call stacks and hardware rows."""
