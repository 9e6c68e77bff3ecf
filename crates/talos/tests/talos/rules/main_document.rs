//! The rules of the main document, and of operations on it.

use super::{Case, MAIN, VALUE};

#[rustfmt::skip]
pub(super) const APPLIED: &[Case] = &[
    // Lists whose elements have a key.
    (MAIN, "machine.network.interfaces",
        "machine: {network: {interfaces: [{interface: eth0, mtu: 1400, addresses: [10.0.0.2/24]}, {deviceSelector: {driver: virtio}, mtu: 1500}]}}",
        "machine: {network: {interfaces: [{interface: eth0, addresses: [10.0.0.3/24]}, {deviceSelector: {driver: virtio}, dhcp: true}, {interface: eth1}]}}"),
    (MAIN, "machine.network.interfaces.[].vlans",
        "machine: {network: {interfaces: [{interface: eth0, vlans: [{vlanId: 7, mtu: 1400}]}]}}",
        "machine: {network: {interfaces: [{interface: eth0, vlans: [{vlanId: 7, dhcp: true}, {vlanId: 8, dhcp: true}]}]}}"),
    (MAIN, "cluster.apiServer.admissionControl",
        "cluster: {apiServer: {admissionControl: [{name: A, configuration: {a: 1}}]}}",
        "cluster: {apiServer: {admissionControl: [{name: A, configuration: {b: 2}}, {name: B, configuration: {c: 3}}]}}"),
    // Replaced.
    (MAIN, "cluster.network.podSubnets",
        "cluster: {network: {podSubnets: [10.1.0.0/16, 10.2.0.0/16]}}", "cluster: {network: {podSubnets: [10.3.0.0/16]}}"),
    (MAIN, "cluster.network.serviceSubnets",
        "cluster: {network: {serviceSubnets: [10.1.0.0/16, 10.2.0.0/16]}}", "cluster: {network: {serviceSubnets: [10.3.0.0/16]}}"),
    (MAIN, "cluster.apiServer.auditPolicy",
        "cluster: {apiServer: {auditPolicy: {kind: Policy, rules: [{level: None}]}}}", "cluster: {apiServer: {auditPolicy: {omitStages: [0x1F]}}}"),
    // Arguments of programs.
    (MAIN, "machine.kubelet.extraArgs",
        "machine: {kubelet: {extraArgs: {a: [x, y], b: z, c: k}}}", "machine: {kubelet: {extraArgs: {a: [z], b: [True], d: 0}}}"),
    (MAIN, "cluster.apiServer.extraArgs",
        "cluster: {apiServer: {extraArgs: {a: [x, y], b: z}}}", "cluster: {apiServer: {extraArgs: {a: [z], b: [True], d: 0}}}"),
    (MAIN, "cluster.controllerManager.extraArgs",
        "cluster: {controllerManager: {extraArgs: {a: [x, y]}}}", "cluster: {controllerManager: {extraArgs: {a: True}}}"),
    (MAIN, "cluster.scheduler.extraArgs",
        "cluster: {scheduler: {extraArgs: {a: [x, y]}}}", "cluster: {scheduler: {extraArgs: {a: [z]}}}"),
    (MAIN, "cluster.proxy.extraArgs",
        "cluster: {proxy: {extraArgs: {a: [x, y]}}}", "cluster: {proxy: {extraArgs: {a: [z]}}}"),
    (MAIN, "cluster.etcd.extraArgs",
        "cluster: {etcd: {extraArgs: {a: [x, y]}}}", "cluster: {etcd: {extraArgs: {a: [z]}}}"),
    // Keys of the owner's choice: a text is what it looks like.
    (MAIN, "machine.env", "machine: {env: {a: x}}", "machine: {env: {b: True, c: 0}}"),
    (MAIN, "machine.sysctls", "machine: {sysctls: {a: x}}", "machine: {sysctls: {b: True, c: 0}}"),
    (MAIN, "machine.sysfs", "machine: {sysfs: {a: x}}", "machine: {sysfs: {b: True, c: 0}}"),
    (MAIN, "machine.nodeLabels", "machine: {nodeLabels: {a: x}}", "machine: {nodeLabels: {b: True, c: 0}}"),
    (MAIN, "machine.nodeAnnotations", "machine: {nodeAnnotations: {a: x}}", "machine: {nodeAnnotations: {b: True, c: 0}}"),
    (MAIN, "machine.nodeTaints", "machine: {nodeTaints: {a: x}}", "machine: {nodeTaints: {b: True, c: 0}}"),
    (MAIN, "cluster.apiServer.env", "cluster: {apiServer: {env: {a: x}}}", "cluster: {apiServer: {env: {b: True}}}"),
    (MAIN, "cluster.controllerManager.env", "cluster: {controllerManager: {env: {a: x}}}", "cluster: {controllerManager: {env: {b: True}}}"),
    (MAIN, "cluster.scheduler.env", "cluster: {scheduler: {env: {a: x}}}", "cluster: {scheduler: {env: {b: True}}}"),
    (MAIN, "cluster.extraManifestHeaders", "cluster: {extraManifestHeaders: {a: x}}", "cluster: {extraManifestHeaders: {b: True, c: 0}}"),
    // What is not Talos's own: any number is one.
    (VALUE, VALUE, "machine: {kubelet: {extraConfig: {a: 1}}}", "[{op: add, path: /machine/kubelet/extraConfig/b, value: {c: 0x1F, d: 0.5}}]"),
    (MAIN, "machine.kubelet.extraConfig", "machine: {kubelet: {extraConfig: {a: [x]}}}", "machine: {kubelet: {extraConfig: {a: [y], b: 0x1F}}}"),
    (MAIN, "machine.kubelet.credentialProviderConfig",
        "machine: {kubelet: {credentialProviderConfig: {a: [x]}}}", "machine: {kubelet: {credentialProviderConfig: {a: [y], b: 0x1F}}}"),
    (MAIN, "machine.pods.[]", "machine: {pods: [{a: 1}]}", "machine: {pods: [{b: 0x1F}]}"),
    (MAIN, "machine.seccompProfiles.[].value",
        "machine: {seccompProfiles: [{name: a, value: {a: 1}}]}", "machine: {seccompProfiles: [{name: b, value: {b: 0x1F}}]}"),
    (MAIN, "machine.baseRuntimeSpecOverrides", "machine: {baseRuntimeSpecOverrides: {a: [x]}}", "machine: {baseRuntimeSpecOverrides: {a: [y], b: 0x1F}}"),
    (MAIN, "cluster.apiServer.admissionControl.[].configuration",
        "cluster: {apiServer: {admissionControl: [{name: A, configuration: {a: 1}}]}}", "cluster: {apiServer: {admissionControl: [{name: A, configuration: {b: 0x1F}}]}}"),
    (MAIN, "cluster.apiServer.authorizationConfig.[].webhook",
        "cluster: {apiServer: {authorizationConfig: [{type: Webhook, name: a, webhook: {a: 1}}]}}",
        "cluster: {apiServer: {authorizationConfig: [{type: Webhook, name: a, webhook: {b: 0x1F}}]}}"),
    (MAIN, "cluster.scheduler.config", "cluster: {scheduler: {config: {a: [x]}}}", "cluster: {scheduler: {config: {a: [y], b: 0x1F}}}"),
    (MAIN, "cluster.apiServer.resources.requests",
        "cluster: {apiServer: {resources: {requests: {cpu: 1}}}}", "cluster: {apiServer: {resources: {requests: {cpu: 2, memory: 0.5}}}}"),
    (MAIN, "cluster.scheduler.resources.limits",
        "cluster: {scheduler: {resources: {limits: {cpu: 1}}}}", "cluster: {scheduler: {resources: {limits: {cpu: 2, memory: 0.5}}}}"),
    // Numbers of a kind of their own.
    (MAIN, "machine.network.kubespan.mtu", "machine: {network: {kubespan: {mtu: 1400}}}", "machine: {network: {kubespan: {mtu: 0}}}"),
    (MAIN, "machine.files.[].permissions",
        "machine: {files: [{path: /a, permissions: 0644, op: create, content: a}]}", "machine: {files: [{path: /b, permissions: 0o600, op: create, content: b}]}"),
    // Mappings that are there even where they are not written.
    (MAIN, "machine.registries", "machine: {type: worker}", "machine: {registries: {mirrors: {$patch: delete}}}"),
    (MAIN, "cluster.discovery.registries", "cluster: {discovery: {enabled: true}}", "cluster: {discovery: {registries: {service: {$patch: delete}}}}"),
    (MAIN, "cluster.discovery.registries.service",
        "cluster: {discovery: {enabled: true}}", "cluster: {discovery: {registries: {service: {endpoint: {$patch: delete}}}}}"),
    (MAIN, "cluster.discovery.registries.kubernetes",
        "cluster: {discovery: {enabled: true}}", "cluster: {discovery: {registries: {kubernetes: {disabled: {$patch: delete}}}}}"),
];

/// Of a table only what it holds can be deleted.
#[rustfmt::skip]
pub(super) const REFUSED: &[Case] = &[
    (MAIN, "machine.registries.mirrors",
        "machine: {registries: {mirrors: {docker.io: {endpoints: ['http://10.0.0.5']}}}}", "machine: {registries: {mirrors: {ghcr.io: {$patch: delete}}}}"),
    (MAIN, "machine.registries.config",
        "machine: {registries: {config: {docker.io: {auth: {username: a}}}}}", "machine: {registries: {config: {ghcr.io: {$patch: delete}}}}"),
];
