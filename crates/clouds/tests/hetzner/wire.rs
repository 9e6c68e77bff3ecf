//! Bodies as Hetzner sends them, with more in them than anybody reads.

use serde_json::{Value, json};

use crate::api::cluster;

pub(crate) fn labels() -> Value {
    json!({ "seaworthy.dev/cluster-id": cluster().to_string(), "seaworthy.dev/cluster": "demo" })
}

pub(crate) fn network(id: u64, name: &str, labels: &Value) -> Value {
    json!({
        "id": id, "name": name, "ip_range": "10.0.0.0/16", "created": "2026-11-15T12:00:00Z",
        "subnets": [{ "type": "cloud", "ip_range": "10.0.64.0/25", "network_zone": "eu-central",
                      "gateway": "10.0.0.1", "vswitch_id": null }],
        "routes": [{ "destination": "10.0.128.0/24", "gateway": "10.0.64.11" }],
        "servers": [7], "load_balancers": [], "protection": { "delete": false },
        "labels": labels, "expose_routes_to_vswitch": false,
    })
}

pub(crate) fn server(id: u64, name: &str, status: &str, labels: &Value) -> Value {
    json!({
        "id": id, "name": name, "status": status, "created": "2026-11-15T12:00:00Z",
        "public_net": {
            "ipv4": { "id": 11, "ip": "127.77.3.11", "blocked": false, "dns_ptr": "x" },
            "ipv6": { "id": 12, "ip": "2001:db8:1::/64", "blocked": false, "dns_ptr": [] },
            "floating_ips": [], "firewalls": [{ "id": 3, "status": "applied" }],
        },
        "private_net": [{ "network": 1, "ip": "10.0.64.11", "alias_ips": [],
                          "mac_address": "86:00:00:00:00:01" }],
        "server_type": { "id": 45, "name": "cax11", "architecture": "arm" },
        "location": { "id": 1, "name": "fsn1", "network_zone": "eu-central" },
        "image": null, "placement_group": { "id": 5, "name": "demo-cp-spread-1" },
        "protection": { "delete": false, "rebuild": false }, "volumes": [], "labels": labels,
        "load_balancers": [], "locked": false, "rescue_enabled": false,
    })
}

pub(crate) fn firewall(id: u64, name: &str, applied_to: &Value, labels: &Value) -> Value {
    json!({
        "id": id, "name": name, "created": "2026-11-15T12:00:00Z", "labels": labels,
        "rules": [{ "direction": "in", "protocol": "tcp", "port": "6443",
                    "source_ips": ["0.0.0.0/0"], "destination_ips": [], "description": null }],
        "applied_to": applied_to,
    })
}

pub(crate) fn load_balancer(id: u64, name: &str, private_net: &Value, labels: &Value) -> Value {
    json!({
        "id": id, "name": name, "created": "2026-11-15T12:00:00Z", "labels": labels,
        "public_net": { "enabled": true, "ipv4": { "ip": "127.77.3.5", "dns_ptr": "x" },
                        "ipv6": { "ip": "2001:db8::5", "dns_ptr": "x" } },
        "private_net": private_net, "load_balancer_type": { "id": 1, "name": "lb11" },
        "location": { "id": 1, "name": "fsn1" }, "protection": { "delete": false },
        "services": [], "targets": [], "algorithm": { "type": "round_robin" },
    })
}

pub(crate) fn volume(id: u64, name: &str, server: Option<u64>, labels: &Value) -> Value {
    json!({
        "id": id, "name": name, "status": "available", "server": server, "size": 10,
        "location": { "name": "fsn1" }, "protection": { "delete": false }, "labels": labels,
        "linux_device": "/dev/disk/by-id/x", "format": "ext4", "created": "2026-11-15T12:00:00Z",
    })
}

pub(crate) fn action(id: u64, status: &str) -> Value {
    let error = if status == "error" {
        json!({ "code": "resource_unavailable", "message": "no room" })
    } else {
        Value::Null
    };
    json!({
        "id": id, "command": "create_server", "status": status, "progress": 50,
        "started": "2026-11-15T12:00:00Z", "finished": null, "error": error,
        "resources": [{ "id": 7, "type": "server" }],
    })
}

/// A page of a list.
pub(crate) fn page(name: &str, items: &[Value], next: Option<u64>, total: u64) -> Value {
    json!({
        name: items,
        "meta": { "pagination": { "page": 1, "per_page": 50, "previous_page": null,
                                  "next_page": next, "last_page": 1, "total_entries": total } },
    })
}

/// A list of one page.
pub(crate) fn list(name: &str, items: &[Value]) -> Value {
    page(name, items, None, items.len() as u64)
}

pub(crate) fn error(code: &str, message: &str) -> Value {
    json!({ "error": { "code": code, "message": message, "details": {} } })
}
