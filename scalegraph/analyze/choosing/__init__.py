"""Which point of a space of machines, processors, splits and schedules to take: by time, hours, energy or price."""
