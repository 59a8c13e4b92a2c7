"""Access control: bearer tokens with their limits, rates of requests, and the audit of changes."""
