"""Functions of a program by their content: what is known of one holds for all that are alike, and for later builds."""
