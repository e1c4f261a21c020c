"""Fields over two parameters: colours and contours."""
