"""Who may do what: tokens and what each is limited to, how often they may ask, and what they changed."""
