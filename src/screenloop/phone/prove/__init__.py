"""What shows that apps work and that tasks can be solved by touch."""
