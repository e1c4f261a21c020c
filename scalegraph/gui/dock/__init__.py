"""The docks of views: area, bars, titles, options and content."""
