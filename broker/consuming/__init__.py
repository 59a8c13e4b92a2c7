"""The consumer side: functions for programs that receive the broker's deliveries."""
