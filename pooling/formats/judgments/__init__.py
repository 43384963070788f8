"""Single judgments as other tools, and another installation, write them: one module for each format."""
