"""Pictures that the server draws: SVG without script, whose colours are those of the style sheet."""
