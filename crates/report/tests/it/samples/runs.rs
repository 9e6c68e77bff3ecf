//! The runs themselves.

use events::{
    Attachment, Because, Call, CallClass, CallOutcome, Cause, Class, Code, Digest, Evidence,
    Failure, Interruption, Made, RunOutcome, RunState, Unit, Verdict, What,
};
use serde_json::json;

use super::script::{Act, Retry, Sample, Wait, event, perform, run_id};
use super::{plan, plan_of_everything};

/// How long each stage of the sample takes, and the line it ends with.
fn usual(unit: &Unit) -> Act {
    let (takes_ms, summary) = match unit.stage.as_str() {
        "preflight" => (198, "types cax11, cax21 available in fsn1"),
        "secrets" => (302, "5 CAs, bundle written before any node"),
        "image" => (1_904, "snapshot 1042, sha256 9f3c…"),
        "network" => (811, "firewall covers 50000, 6443"),
        "nodes" => (1_396, ""),
        "identity" => (104, ""),
        "config" => (402, "workers answer once the API is up"),
        "etcd" => (897, "3 members, leader demo-cp-2"),
        "api" => (1_203, "3/3 direct, load balancer 3/3 healthy"),
        "cni" => (1_094, ""),
        "cloud" => (297, ""),
        "ready" => (602, ""),
        "storage" => (699, "probe volume written and gone"),
        "seal" => (400, "round trip ok"),
        "gitops" => (503, "main@sha1:4be1…"),
        _ => (902, "datapath 5×5, DNS, egress; 2m stable (simulated)"),
    };
    let takes_ms = takes_ms + jitter(unit) * takes_ms / 400;
    let seen =
        if summary.is_empty() { format!("{unit} is as planned") } else { summary.to_owned() };
    let evidence = Evidence::new(seen)
        .fact("looked.at", json!({ "unit": unit.to_string(), "port": 6443 }))
        .simulated();
    Act {
        takes_ms,
        summary: summary.to_owned(),
        calls: calls(unit),
        waits: vec![Wait { verdict: Verdict::not_yet("no answer yet") }],
        evidence: Some(evidence),
        ..Act::default()
    }
}

fn jitter(unit: &Unit) -> u64 {
    let node = unit.node.as_ref().map_or("", |node| node.as_str());
    u64::from(Digest::of(node.as_bytes()).to_string().as_bytes()[3] % 40)
}

fn calls(unit: &Unit) -> Vec<(Call, CallOutcome)> {
    let done = |kind: &str, name: &str, id: &str| {
        let made = Made::id(kind.rsplit(' ').next().unwrap(), id).action("7");
        let call = Call::new(CallClass::Named, kind, name, name.as_bytes());
        (call, CallOutcome::Done { made })
    };
    match (unit.stage.as_str(), &unit.node) {
        ("network", _) => vec![
            done("create network", "demo", "11"),
            done("create firewall", "demo", "12"),
            done("create load-balancer", "demo-api", "13"),
        ],
        ("nodes", Some(node)) => vec![done("create server", node.as_str(), "42")],
        ("etcd", _) => vec![done("bootstrap etcd", "demo-cp-2", "1")],
        _ => Vec::new(),
    }
}

/// Rehearse, all well.
pub(crate) fn proven() -> Sample {
    perform(plan(3, 2), usual)
}

pub(crate) fn lb_cause() -> Cause {
    Cause::new(Code(307), "the load balancer has no healthy target for port 6443")
        .because([
            "load balancer demo-api: 0 of 3 targets healthy",
            "health check GET https://10.0.64.11:6443/version expects 401, last status 404",
            "kube-apiserver on demo-cp-1, -2, -3 answers /readyz directly with 200",
        ])
        .so("the API is up; only the path through the load balancer is broken")
        .next("seaworthy plan", "shows the health check that would be changed")
        .next("seaworthy explain SW0307", "tells more")
}

const LB_LOG: &[u8] = b"GET /v1/load_balancers/13\n\
    targets: 3\n  10.0.64.11:6443 unhealthy (404)\n  10.0.64.12:6443 unhealthy (404)\n  10.0.64.13:6443 unhealthy (404)\n";

/// A fault, named: the load balancer has no healthy target.
pub(crate) fn failed() -> Sample {
    let api = Unit::whole("api");
    let mut sample = perform(plan(3, 2), |unit| {
        if unit.stage.as_str() == "network" {
            let evidence = Evidence::new("firewall covers 50000, 6443")
                .fact("firewall.ports", json!([6443, 50000]))
                .fact("load_balancer.targets", 3)
                .simulated()
                .file(attached("load-balancer.txt", LB_LOG));
            return Act { evidence: Some(evidence), ..usual(unit) };
        }
        if *unit != api {
            return usual(unit);
        }
        Act {
            takes_ms: 20_012,
            fails: Some(lb_cause()),
            waits: vec![
                Wait { verdict: Verdict::not_yet("connection refused by 203.0.113.10:6443") },
                Wait { verdict: Verdict::blind(Failure::transient("no route to host")) },
                Wait {
                    verdict: Verdict::not_yet(
                        Because::new("EOF from 203.0.113.10:6443")
                            .caused_by("load balancer demo-api: 0 of 3 targets healthy"),
                    ),
                },
            ],
            ..usual(unit)
        }
    });
    sample.files = vec![LB_LOG.to_vec()];
    sample
}

/// Asked to stop while two nodes were on their way.
pub(crate) fn interrupted() -> Sample {
    perform(plan(3, 2), |unit| Act {
        stops: unit.stage.as_str() == "ready"
            && unit.node.as_ref().is_some_and(|node| node.as_str().contains("worker")),
        ..usual(unit)
    })
}

/// The process died in the middle; a later run closed the journal.
pub(crate) fn died() -> Sample {
    let mut sample = proven();
    sample.events.retain(|event| event.elapsed_ms < 6_000);
    let last = sample.events.last().unwrap();
    let (seq, at) = (last.seq.next(), last.elapsed_ms);
    let how = Interruption::Died;
    let outcome = RunOutcome::Interrupted { how };
    sample.events.push(event(seq, at, 1, What::RunEnded { outcome }));
    let mut state = RunState::default();
    sample.events.iter().for_each(|event| state.apply(event).unwrap());
    sample
}

/// Nothing failed, but something required was not seen.
pub(crate) fn not_proven() -> Sample {
    perform(plan(1, 2), |unit| match unit.stage.as_str() {
        "gitops" => Act { skips: Some((true, "no repository given".to_owned())), ..usual(unit) },
        "seal" => Act { skips: Some((false, "not in the cluster file".to_owned())), ..usual(unit) },
        "proof" => {
            Act { skips_checks: Some("no image for the probe pods".to_owned()), ..usual(unit) }
        }
        _ => usual(unit),
    })
}

/// Late and with detours, on a real cloud, but proven.
pub(crate) fn late() -> Sample {
    let mut plan = plan(3, 2);
    "up".clone_into(&mut plan.command);
    plan.simulated_speed = None;
    plan.stand_ins = Vec::new();
    perform(plan, |unit| {
        let node = unit.node.as_ref().map_or("", |node| node.as_str());
        let act = usual(unit);
        match (unit.stage.as_str(), node) {
            ("nodes", "demo-worker-2") => Act {
                takes_ms: 95_000,
                retries: vec![
                    Retry {
                        error: Failure::new(
                            Class::RateLimited { after_ms: Some(3_000) },
                            "429 from the cloud",
                        ),
                    },
                    Retry { error: Failure::transient("the cloud answered 503") },
                ],
                calls: vec![(
                    Call::new(CallClass::Named, "create server", node, b"request"),
                    CallOutcome::InDoubt { error: Failure::transient("connection reset by peer") },
                )],
                warnings: vec!["type cax21 is nearly sold out in fsn1".to_owned()],
                ..act
            },
            ("ready", "demo-worker-2") => Act {
                takes_ms: 84_000,
                waits: vec![
                    Wait { verdict: Verdict::not_yet("kubelet: not running") },
                    Wait {
                        verdict: Verdict::blind(Failure::transient(
                            "connection refused by 10.0.64.22:50000",
                        )),
                    },
                    Wait {
                        verdict: Verdict::not_yet(
                            "kubelet: MountVolume failed for \"kube-api-access\"",
                        ),
                    },
                ],
                ..act
            },
            ("storage", _) => Act { reuses: Some(run_id(0)), ..act },
            _ => act,
        }
    })
}

pub(crate) fn attached(name: &str, bytes: &[u8]) -> Attachment {
    Attachment {
        name: name.to_owned(),
        digest: Digest::of(bytes),
        size: bytes.len() as u64,
        cut_from: None,
    }
}

pub(crate) const HOSTILE: &str = "</script><script>alert(1)</script><img src=x onerror=alert(2)> </script x <!-- <script x \x1b[2J\x1b]0;owned\x07 ]]> --> \
    `code` **bold** | pipe @everyone #1 ::error::x%0A \u{2028}line\u{2029} \u{202e}desrever\u{202c} \0\x08\u{fffe} &amp; \" ' \r\nnext: a, b";

/// Everything that others can write is hostile.
pub(crate) fn hostile() -> Sample {
    let file = [
        b"\xff\xfe\x80 invalid </script><img src=x onerror=alert(3)>\x1b[31m".as_slice(),
        &b"x".repeat(1 << 20),
        HOSTILE.as_bytes(),
    ]
    .concat();
    let huge = "y".repeat(1 << 20);
    let mut plan = plan(1, 2);
    plan.title = format!("{HOSTILE}{huge}");
    HOSTILE.clone_into(&mut plan.cluster);
    plan.stages[15].name = HOSTILE.into();
    plan.stages[15].checks[0].name = HOSTILE.into();
    plan.nodes[2].name = HOSTILE.into();
    for stage in &mut plan.stages {
        for node in stage.nodes.iter_mut().flatten().filter(|node| node.as_str() == "demo-worker-2")
        {
            *node = HOSTILE.into();
        }
    }
    let evil = Evidence::new(HOSTILE)
        .fact(HOSTILE, json!({ HOSTILE: [HOSTILE, { "deep": HOSTILE }] }))
        .fact("huge", huge.as_str())
        .file(attached(HOSTILE, &file));
    let mut sample = perform(plan, |unit| match unit.stage.as_str() {
        "ready" if unit.node.as_ref().is_some_and(|node| node.as_str() == HOSTILE) => Act {
            fails: Some(
                Cause::new(Code(1), format!("{HOSTILE}{huge}"))
                    .because([HOSTILE.to_owned(), huge.clone()])
                    .so(HOSTILE)
                    .next(HOSTILE, HOSTILE),
            ),
            waits: vec![Wait {
                verdict: Verdict::not_yet(Because::new(HOSTILE).caused_by(HOSTILE)),
            }],
            warnings: vec![HOSTILE.to_owned()],
            retries: vec![Retry { error: Failure::transient(HOSTILE) }],
            ..usual(unit)
        },
        _ => Act { evidence: Some(evil.clone()), summary: HOSTILE.to_owned(), ..usual(unit) },
    });
    sample.files = vec![file];
    sample
}

/// Five hundred nodes, every stage on each, and one of them never joins.
pub(crate) fn five_hundred() -> Sample {
    perform(plan_of_everything(500), |unit| {
        let node = unit.node.as_ref().map_or("", |node| node.as_str());
        let act = usual(unit);
        match (unit.stage.as_str(), node) {
            ("ready", "demo-worker-123") => Act {
                takes_ms: 9_000,
                fails: Some(
                    Cause::new(Code(402), "the node never became ready")
                        .because(["kubelet: MountVolume failed"]),
                ),
                ..act
            },
            ("nodes", _) if node.ends_with("77") => Act {
                retries: vec![Retry { error: Failure::transient("the cloud answered 503") }],
                ..act
            },
            _ => act,
        }
    })
}
