//! The pages of the causes.

use super::{
    ADDRESS_WRONG, CILIUM_AGENT_MISSING, CILIUM_TAINT_LEFT, CSI_DRIVER_UNREGISTERED,
    CSI_PLUGIN_MISSING, FLUX_BEHIND, FLUX_NOT_READY, FLUX_OBJECT_MISSING, FLUX_STALLED,
    FLUX_SUSPENDED, IMAGE_NOT_PULLED, MANIFEST_NOT_READY, METRICS_UNAVAILABLE, NETWORK_UNAVAILABLE,
    NODE_ABSENT, NODE_UNINITIALIZED, POD_CRASHES, POD_MISCONFIGURED, POD_NETWORK_MISSING,
    POD_UNSCHEDULABLE, PROVIDER_ID_WRONG, Page, ROUTE_MISSING, SEALING_CERTIFICATE_UNREADABLE,
    SEALING_KEY_FOREIGN, STORAGE_OBJECT_MISSING, VOLUME_NOT_MOUNTED, WORKLOAD_BEHIND,
    WORKLOAD_MISSING,
};

/// The pages, by code.
pub const PAGES: &[Page] = &[
    Page {
        code: WORKLOAD_MISSING,
        title: "an addon's workload does not exist",
        text: "\
What it means

The Deployment or DaemonSet that does an addon's work is not in the cluster.
It was never delivered, or somebody has deleted it since.

How to see it

    kubectl get deployments,daemonsets -A

What to do

Run `seaworthy up` again: it delivers what is missing and nothing else. If the
repository installs the addon (`by: gitops`), look at Flux first: an error
there keeps all that comes after it away.
",
    },
    Page {
        code: WORKLOAD_BEHIND,
        title: "a workload has not caught up with what was asked of it",
        text: "\
What it means

The workload exists, but not all of its pods are there, of the newest form,
ready and available; or its controller has not seen the newest form yet. A
workload that is ready in part is not ready.

How to see it

    kubectl -n NAMESPACE rollout status deployment/NAME
    kubectl -n NAMESPACE get pods -o wide

What to do

Most often this passes. If it stays, the events of the pods say why: describe
the one that is not ready. If there are no pods at all, describe the workload:
the API server may refuse them (quota, pod security). If no controller sees it,
look at kube-controller-manager.
",
    },
    Page {
        code: IMAGE_NOT_PULLED,
        title: "an image cannot be pulled",
        text: "\
What it means

The node asked the registry for a container image and did not get it. After a
few minutes this is taken for final: the name is wrong, the registry wants
credentials or blocks the address, or the node has no way out.

How to see it

    kubectl -n NAMESPACE describe pod POD

The last event holds the registry's own words: 404 is a wrong name, 401 and 403
are credentials or a block, a timeout is the network or DNS of the node.

What to do

Correct the version in the cluster file, or set a mirror under `registries`.
If only some nodes fail, compare their addresses and firewalls. Then run
`seaworthy up` again.
",
    },
    Page {
        code: POD_CRASHES,
        title: "a container keeps exiting",
        text: "\
What it means

The container starts and ends again, and the kubelet waits longer and longer
between tries (CrashLoopBackOff).

How to see it

    kubectl -n NAMESPACE logs POD --previous
    kubectl -n NAMESPACE describe pod POD

Exit code 137 with OOMKilled is too little memory; other codes are the
program's own, and its last lines say more.

What to do

Fix what the log names. For Cilium on Talos, `operation not permitted` means a
capability that Talos does not give (SYS_MODULE) or the automatic mount of
cgroups. For the cloud controller it is most often the token or the network.
",
    },
    Page {
        code: POD_UNSCHEDULABLE,
        title: "no node takes a pod",
        text: "\
What it means

The scheduler found no node for a pod: taints that it does not tolerate, too
little CPU or memory, a node selector that fits nobody, or a replica too many
for a rule that keeps replicas apart.

How to see it

    kubectl -n NAMESPACE describe pod POD
    kubectl get nodes -o custom-columns=NAME:.metadata.name,TAINTS:.spec.taints

What to do

The message counts the nodes by reason. A taint such as
node.cloudprovider.kubernetes.io/uninitialized or
node.cilium.io/agent-not-ready points at the addon that should have removed
it: look there. Else add nodes or ask for less.
",
    },
    Page {
        code: POD_MISCONFIGURED,
        title: "a pod refers to something that is not there",
        text: "\
What it means

The container cannot be made because a Secret, a ConfigMap or a key in one of
them does not exist (CreateContainerConfigError), or its settings contradict
each other.

How to see it

    kubectl -n NAMESPACE describe pod POD
    kubectl -n NAMESPACE get secrets,configmaps

What to do

Run `seaworthy up` again: it delivers the Secrets that it knows of. A Secret
that comes from elsewhere must be there first.
",
    },
    Page {
        code: VOLUME_NOT_MOUNTED,
        title: "a volume of a pod cannot be mounted",
        text: "\
What it means

The kubelet cannot mount one of the pod's volumes, so no container starts. Also
the volume with the pod's token (kube-api-access) counts: without it nearly no
pod starts on that node.

How to see it

    kubectl -n NAMESPACE describe pod POD
    kubectl get volumeattachments

What to do

`kube-api-access` points at the kubelet of that node or its way to the API;
look at the node. A missing Secret or ConfigMap is named in the event. For a
volume of the cloud, see whether it is attached to another server.
",
    },
    Page {
        code: NODE_ABSENT,
        title: "a node has not registered",
        text: "\
What it means

The cluster file asks for a node that the API does not know. Its machine may
run and its kubelet may not, or may not reach the API.

How to see it

    kubectl get nodes
    seaworthy status
    talosctl -n ADDRESS service kubelet

What to do

Look at the node's own services. Common: a clock that is off, a node that does
not reach port 6443, a kubelet that cannot mount its volumes. A name that
differs from the server's name counts as another node.
",
    },
    Page {
        code: CILIUM_AGENT_MISSING,
        title: "a node has no working Cilium agent",
        text: "\
What it means

Cilium works on every node by itself. A node without a running and ready agent
has no pod network, however many other nodes have one.

How to see it

    kubectl -n kube-system get pods -l k8s-app=cilium -o wide
    kubectl -n kube-system describe daemonset cilium

What to do

If there is a pod for the node, its state and last event say why it does not
run. If there is none, describe the DaemonSet: a node selector, an affinity or
a refusal of the API server keeps it away.
",
    },
    Page {
        code: CILIUM_TAINT_LEFT,
        title: "a node still waits for its Cilium agent",
        text: "\
What it means

The taint node.cilium.io/agent-not-ready keeps pods away until the agent is
ready there. Cilium's operator removes it. If it stays, ordinary pods do not
start on that node.

How to see it

    kubectl describe node NODE
    kubectl -n kube-system logs deployment/cilium-operator

What to do

Look at the agent on that node, then at the operator: it must run and must be
allowed to change nodes. Do not remove the taint by hand: it would come back.
",
    },
    Page {
        code: NETWORK_UNAVAILABLE,
        title: "a node says that its network does not work",
        text: "\
What it means

The node's condition NetworkUnavailable is not False. The network plugin or the
cloud controller sets it, the latter when it could not make the route to the
node's pods.

How to see it

    kubectl get node NODE -o jsonpath='{.status.conditions}'

What to do

Read the condition's reason. `NoRouteCreated` is the cloud controller's: see its
log. Otherwise see the network plugin's agent on that node.
",
    },
    Page {
        code: POD_NETWORK_MISSING,
        title: "a node has no working pod of the pod network",
        text: "\
What it means

The cluster's own manifests bring the pod network, as a DaemonSet. On this node
none of its pods works. Pods there get no address, or no way to the pods of
other nodes; without a network from the beginning the node is not ready at all.

How to see it

    kubectl get pods -A -o wide --field-selector spec.nodeName=NODE
    kubectl -n NAMESPACE describe daemonset NAME

What to do

Where there is no pod at all, the DaemonSet does not want the node: compare the
node's taints and labels with the set's tolerations and node selector. Where
there is one, its state and its log say what it lacks.
",
    },
    Page {
        code: NODE_UNINITIALIZED,
        title: "the cloud controller has not initialised a node",
        text: "\
What it means

Nodes start with the taint node.cloudprovider.kubernetes.io/uninitialized. The
cloud controller removes it when it has found the server behind the node. Until
then ordinary pods do not start there.

How to see it

    kubectl describe node NODE
    kubectl -n kube-system logs deployment/hcloud-cloud-controller-manager

What to do

The controller finds servers by name: node and server must be called the same.
It ends at once if the token is wrong, if the network does not exist or if the
server is not attached to it; its log says which.
",
    },
    Page {
        code: PROVIDER_ID_WRONG,
        title: "a node claims to be another server",
        text: "\
What it means

The node's providerID is not that of the server of its name. It can be set
only once. Most often the node object is left over from a server that was
replaced, or two cloud controllers initialise nodes.

How to see it

    kubectl get node NODE -o jsonpath='{.spec.providerID}'

What to do

Make sure that only one cloud controller initialises nodes. Then delete the
node object (`kubectl delete node NODE`) and restart its kubelet: it registers
anew and gets the right id.
",
    },
    Page {
        code: ADDRESS_WRONG,
        title: "a node has another address than its server",
        text: "\
What it means

The node's InternalIP is not the server's address in the private network. Pods
and the API would talk to it by a way that was not meant, or not at all.

How to see it

    kubectl get nodes -o wide

What to do

Look at the kubelet's valid subnets in the machine config, and at whether the
server is attached to the network with the address that was planned.
",
    },
    Page {
        code: ROUTE_MISSING,
        title: "the network has no route to a node's pods",
        text: "\
What it means

With native routing the cloud's network itself carries packets between pods. It
needs a route per node: from the node's range of pod addresses to the node's
private address. Without it pods on other nodes cannot reach these, although
all nodes are Ready.

How to see it

    kubectl get nodes -o custom-columns=NAME:.metadata.name,PODS:.spec.podCIDR
    hcloud network describe NETWORK

What to do

The cloud controller makes the routes: see its log. It needs
--allocate-node-cidrs, the cluster's range of pod addresses inside the
network's range, and the id or name of the network. A network takes 100 routes.
",
    },
    Page {
        code: CSI_PLUGIN_MISSING,
        title: "a node has no working plugin of the storage driver",
        text: "\
What it means

Volumes are mounted by a plugin on the node itself. Pods with volumes do not
start on a node without it, while they do elsewhere.

How to see it

    kubectl -n kube-system get pods -l app.kubernetes.io/name=hcloud-csi -o wide

What to do

If there is a pod for the node, its state and last event say why it does not
run; `failed to get metadata` means that the node does not reach
169.254.169.254. If there is none, describe the DaemonSet hcloud-csi-node.
",
    },
    Page {
        code: CSI_DRIVER_UNREGISTERED,
        title: "the storage driver is not registered on a node",
        text: "\
What it means

The plugin runs, but the kubelet does not know it: the node's CSINode does not
list the driver. The scheduler keeps pods with volumes away from there.

How to see it

    kubectl get csinode NODE -o jsonpath='{.spec.drivers[*].name}'
    kubectl -n kube-system logs POD -c csi-node-driver-registrar

What to do

The registrar talks to the kubelet through /var/lib/kubelet/plugins_registry:
see its log. After a restart of the kubelet it registers again by itself.
",
    },
    Page {
        code: STORAGE_OBJECT_MISSING,
        title: "an object that describes the storage is missing",
        text: "\
What it means

The CSIDriver or the StorageClass of the driver is not in the cluster. Without
them nobody attaches volumes, or nobody can ask for one.

How to see it

    kubectl get csidrivers,storageclasses

What to do

Run `seaworthy up` again: it delivers what is missing.
",
    },
    Page {
        code: SEALING_KEY_FOREIGN,
        title: "Sealed Secrets seals for another key than ours",
        text: "\
What it means

The controller serves a certificate of a key that is not the one in the state
folder. It reads keys only when it starts: it began without ours and made one
of its own, or a newer key took precedence. Secrets that were sealed for our
key may not open, and a rebuilt cluster will not open what is sealed now.

How to see it

    kubeseal --fetch-cert
    kubectl -n kube-system get secrets \\
      -l sealedsecrets.bitnami.com/sealed-secrets-key

What to do

See that our key is among those Secrets, keep a copy of the others, then restart
the controller: `kubectl -n kube-system rollout restart
deployment/sealed-secrets-controller`. It uses the newest key to seal, and all
of them to open.
",
    },
    Page {
        code: SEALING_CERTIFICATE_UNREADABLE,
        title: "Sealed Secrets serves no certificate",
        text: "\
What it means

The controller answers, and what it answers at /v1/cert.pem is not an RSA
certificate.

How to see it

    kubectl get --raw /api/v1/namespaces/kube-system/services/\\
    http:sealed-secrets-controller:8080/proxy/v1/cert.pem

What to do

See the controller's log. A proxy or another service behind the same name would
answer with a page of its own.
",
    },
    Page {
        code: FLUX_NOT_READY,
        title: "Flux could not bring something about",
        text: "\
What it means

An object of Flux is not Ready, and says why in its condition. It tries again by
itself.

How to see it

    flux get all -A
    kubectl -n flux-system describe kustomization NAME

What to do

The message is Flux's own. `context deadline exceeded` is DNS or the way out of
the source controller's pod (ports 22, 443); `no matches for kind` is a
definition that comes later than its objects: put it into a Kustomization of
its own that the other depends on.
",
    },
    Page {
        code: FLUX_STALLED,
        title: "Flux has given up on an object",
        text: "\
What it means

The object's condition Stalled is True: Flux does not try again until somebody
changes it. The settings contradict themselves or all attempts are used up.

How to see it

    flux get all -A
    kubectl -n NAMESPACE describe KIND NAME

What to do

Correct what the message names, in the repository. For a release that used up
its attempts: `flux reconcile helmrelease NAME --reset`.
",
    },
    Page {
        code: FLUX_BEHIND,
        title: "Flux is at another revision than the branch",
        text: "\
What it means

Flux says Ready, but for an older revision than the branch has, or for an older
form of the object. Ready for yesterday is not ready.

How to see it

    flux get kustomizations -A
    git ls-remote REPOSITORY BRANCH

What to do

Most often this passes within the interval; `flux reconcile kustomization
flux-system --with-source` hurries it. If it stays, look at the GitRepository:
if that is behind too, the source controller does not reach the repository.
",
    },
    Page {
        code: FLUX_OBJECT_MISSING,
        title: "Flux was never told what to follow",
        text: "\
What it means

The GitRepository or the Kustomization `flux-system` does not exist, so the
controllers have nothing to do.

How to see it

    kubectl -n flux-system get gitrepositories,kustomizations

What to do

Run `seaworthy up` again: it delivers both. If the kinds are not known, the
definitions were not delivered or not established.
",
    },
    Page {
        code: FLUX_SUSPENDED,
        title: "somebody told Flux to pause",
        text: "\
What it means

`spec.suspend` is true: Flux leaves the object as it is. Nothing can be said
about it until it goes on.

How to see it

    flux get all -A --status-selector ready=false

What to do

`flux resume KIND NAME`, or remove `suspend` in the repository.
",
    },
    Page {
        code: METRICS_UNAVAILABLE,
        title: "the metrics API does not answer",
        text: "\
What it means

The API server does not reach metrics-server: the APIService
v1beta1.metrics.k8s.io is not Available. `kubectl top` and autoscaling do not
work, and deleting namespaces hangs.

How to see it

    kubectl describe apiservice v1beta1.metrics.k8s.io

What to do

The condition's message says which step failed. `MissingEndpoints` is a pod that
is not ready; a timeout is the pod network between a control plane and the pod;
a certificate error is about the kubelets' certificates.
",
    },
    Page {
        code: MANIFEST_NOT_READY,
        title: "what the cluster file's manifests bring is not ready",
        text: "\
What it means

The cluster file names manifests. They were applied, and an object of them is
not what it should be: a workload without all of its pods, a claim that is not
bound, a condition that is false.

How to see it

    seaworthy explain KIND/NAME -n NAMESPACE

What to do

The chain of causes ends with what to mend. Mend it in the manifest, not only in
the cluster: the next run applies the manifest again.
",
    },
];
