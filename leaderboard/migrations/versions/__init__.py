"""The revisions, one a module: each upgrades a store by one version."""
