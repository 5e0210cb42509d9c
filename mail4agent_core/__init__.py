"""Engines and stores of the seams: rules and durable state, no HTTP and no framework."""
