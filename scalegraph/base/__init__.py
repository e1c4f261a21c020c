"""Floor 0: errors, events, cancellation, units, files; what every other package stands on."""
