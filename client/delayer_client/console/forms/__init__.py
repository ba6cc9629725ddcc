"""What a form sends, and what is asked before it is carried out."""
