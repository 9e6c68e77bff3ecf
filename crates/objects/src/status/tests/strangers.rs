//! What is suspended, and kinds that are not Kubernetes' own.

use super::check;

#[test]
fn what_is_suspended_is_as_it_should_be() {
    check(&[
        (
            "batch/v1.Job\nspec: {suspend: true}\nstatus: {conditions: [{type: Suspended, status: 'True'}]}",
            "ready",
        ),
        (
            "batch/v1.Job\nspec: {suspend: true}\nstatus: {startTime: now, active: 1}",
            "in progress: its controller has not suspended it yet",
        ),
        (
            "batch/v1.Job\nspec: {suspend: true}\nstatus: {conditions: [{type: Failed, status: 'True', message: too often}]}",
            "failed: too often",
        ),
        ("source.toolkit.fluxcd.io/v1.GitRepository generation: 1\nspec: {suspend: true}", "ready"),
        // To suspend it is a generation that its controller does not look at.
        (
            "source.toolkit.fluxcd.io/v1.GitRepository generation: 2\nspec: {suspend: true}\nstatus: {observedGeneration: 1, conditions: [{type: Ready, status: 'True', observedGeneration: 1}]}",
            "ready",
        ),
        (
            "source.toolkit.fluxcd.io/v1.GitRepository generation: 2\nspec: {suspend: true}\nstatus: {observedGeneration: 1, conditions: [{type: Ready, status: 'False', message: no such host, observedGeneration: 1}]}",
            "unknown: it is suspended, and was not ready: no such host",
        ),
        // Flux looks at no registry.
        ("source.toolkit.fluxcd.io/v1.HelmRepository generation: 1\nspec: {type: oci}", "ready"),
        (
            "source.toolkit.fluxcd.io/v1.HelmRepository generation: 1\nspec: {type: default}",
            "in progress: its controller has not said anything yet",
        ),
        (
            "example.com/v1.Thing\nspec: {suspend: true}\nstatus: {conditions: [{type: Ready, status: 'False', message: m}]}",
            "in progress: m",
        ),
    ]);
}

#[test]
fn conditions_that_nobody_has_written_yet_say_nothing() {
    check(&[
        (
            "example.com/v1.Thing\nstatus: {conditions: [{type: Valid, status: 'Unknown'}]}",
            "in progress: its controller has not said anything yet",
        ),
        (
            "example.com/v1.Thing generation: 2\nstatus: {conditions: [{type: Valid, status: 'True', observedGeneration: 1}]}",
            "in progress: its conditions are of an older generation",
        ),
        (
            "example.com/v1.Thing generation: 2\nstatus: {conditions: [{type: Ready, status: 'True', observedGeneration: '1'}, {type: Valid, status: 'True'}]}",
            "in progress: its conditions are of an older generation",
        ),
        (
            "example.com/v1.Thing generation: 2\nstatus: {conditions: [{type: Valid, status: 'True', observedGeneration: 2}, {type: Odd, status: 'True', observedGeneration: 1}]}",
            "ready",
        ),
    ]);
}

#[test]
fn an_ending_makes_no_kind_one_of_kubernetes() {
    check(&[
        ("storage.k8s.io/v1.StorageClass", "ready"),
        ("x-k8s.io/v1.Thing", "unknown: it has no status"),
        ("jobset.x-k8s.io/v1alpha2.JobSet", "unknown: it has no status"),
        ("policy.networking.k8s.io/v1alpha1.AdminNetworkPolicy", "unknown: it has no status"),
        ("snapshot.storage.k8s.io/v1.VolumeSnapshot", "in progress: it is not ready to use yet"),
        (
            "snapshot.storage.k8s.io/v1.VolumeSnapshot\nstatus: {readyToUse: false, error: {message: no driver}}",
            "in progress: no driver",
        ),
        ("snapshot.storage.k8s.io/v1.VolumeSnapshot\nstatus: {readyToUse: true}", "ready"),
        ("snapshot.storage.k8s.io/v1.VolumeSnapshotClass", "ready"),
        (
            "gateway.networking.k8s.io/v1.GRPCRoute\nspec: {parentRefs: [{name: g}]}",
            "in progress: not every gateway has taken it up yet",
        ),
        (
            "gateway.networking.k8s.io/v1alpha2.TLSRoute\nspec: {parentRefs: [{name: g}]}\nstatus: {parents: [{parentRef: {name: g}, conditions: [{type: Accepted, status: 'False', message: no listener}]}]}",
            "in progress: g says: no listener",
        ),
        (
            "gateway.networking.k8s.io/v1alpha2.UDPRoute\nspec: {parentRefs: [{name: g}]}\nstatus: {parents: [{parentRef: {name: g}, conditions: [{type: Accepted, status: 'True'}]}]}",
            "ready",
        ),
        // What the API fills in.
        (
            "gateway.networking.k8s.io/v1.GatewayClass\nstatus: {conditions: [{type: Accepted, status: Unknown, reason: Pending, message: Waiting for controller}]}",
            "in progress: Pending: Waiting for controller",
        ),
        ("gateway.networking.k8s.io/v1beta1.ReferenceGrant", "ready"),
    ]);
}

#[test]
fn a_request_is_there_for_its_certificate() {
    let request = "certificates.k8s.io/v1.CertificateSigningRequest";
    let table = [
        ("", "in progress: nobody has approved it yet"),
        (
            "conditions: [{type: Approved, status: 'True'}]",
            "in progress: it is approved, and its signer has not issued it yet",
        ),
        ("conditions: [{type: Approved, status: 'True'}], certificate: TFMwdA==", "ready"),
        (
            "conditions: [{type: Denied, status: 'True', message: who is this}]",
            "failed: who is this",
        ),
        (
            "conditions: [{type: Approved, status: 'True'}, {type: Failed, status: 'True', reason: Signer, message: bad key}]",
            "failed: Signer: bad key",
        ),
    ];
    for (status, wanted) in table {
        check(&[(&format!("{request}\nstatus: {{{status}}}"), wanted)]);
    }
}
