"""What the page on scale shows: the table, the picture and the answer are made of one file, loads.json."""
