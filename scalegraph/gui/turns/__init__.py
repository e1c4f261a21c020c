"""Work of the window's thread in portions: no turn of the event loop does more than a key or a click can wait for."""
