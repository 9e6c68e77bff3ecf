//! Real Kubernetes components for tests.
