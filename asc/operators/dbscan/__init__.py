"""Standing DBSCAN queries: density-based clusters of sliding windows, with ids that last."""
