"""The main window and its direct parts."""
