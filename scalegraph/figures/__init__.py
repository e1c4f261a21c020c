"""What every picture is made of, on the screen and in files alike: figures, colours, contours, timelines."""
