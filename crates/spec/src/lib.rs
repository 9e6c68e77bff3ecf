//! What was asked: the cluster file, its validation, and pure planning.
