"""What the options of ``scalegraph simulate`` mean: its request, lists of values, and several choices printed."""
