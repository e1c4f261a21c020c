"""Fields over two parameters, in colours and contours."""
