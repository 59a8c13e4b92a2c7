"""The other end: what a program does that receives what the broker delivers."""
