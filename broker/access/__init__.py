"""Access control: tokens and the limits of each, rates of requests, and the audit of changes."""
