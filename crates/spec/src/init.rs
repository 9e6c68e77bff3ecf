//! New cluster files.
