"""Makes the packages: a file for each kind of package, and one for each thing that several kinds have."""
