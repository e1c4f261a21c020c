"""The docks of views: area, bars, titles, options, and what is in a dock."""
