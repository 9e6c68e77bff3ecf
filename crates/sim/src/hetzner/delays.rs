//! How long things take at Hetzner.

use std::time::Duration;

/// Simulated durations of actions; the defaults are what people measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delays {
    /// From the order of a server until it exists, without starting it.
    pub create_server: Duration,
    /// Powering on, until the machine boots.
    pub start_server: Duration,
    /// Powering off or shutting down.
    pub stop_server: Duration,
    /// Until a deleted server is gone.
    pub delete_server: Duration,
    /// Attaching to a network, or detaching.
    pub attach_network: Duration,
    /// Adding or removing a subnet or a route.
    pub change_network: Duration,
    /// Firewall rules reaching a server.
    pub apply_firewall: Duration,
    /// From the order of a load balancer until it exists.
    pub create_load_balancer: Duration,
    /// Changing its services, targets or protection.
    pub change_load_balancer: Duration,
    /// Creating, attaching or detaching a volume.
    pub change_volume: Duration,
    /// From a server's disk to an available snapshot.
    pub create_image: Duration,
    /// Anything that is no more than an entry.
    pub note: Duration,
}

impl Default for Delays {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            create_server: seconds(45),
            start_server: seconds(12),
            stop_server: seconds(6),
            delete_server: seconds(5),
            attach_network: seconds(3),
            change_network: seconds(2),
            apply_firewall: seconds(2),
            create_load_balancer: seconds(4),
            change_load_balancer: seconds(2),
            change_volume: seconds(4),
            create_image: seconds(120),
            note: seconds(1),
        }
    }
}
