"""Where the processors' time goes."""
