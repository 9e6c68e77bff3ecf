//! `proof`: pods on all nodes reach each other, names and the world outside,
//! and everything stays healthy.

use std::net::IpAddr;
use std::time::Duration;

use addons::probe::{DATAPATH_PORT, Datapath, ProbeKind};
use engine::{ActError, Hands};
use events::{Because, Cause, Code, Evidence, Failure, NodeName, Verdict};
use futures::future::join_all;
use futures::stream::{self, StreamExt as _};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use spec::Egress;
use spec::plan::Stage;

use super::probing::Probing;
use super::{addon_stage, api, etcd, probe_pods, ready};
use crate::addon::Part;
use crate::hetzner::explain;
use crate::{Site, codes, kube, manifests, node_trouble};

/// More than fits into one packet anywhere on the way.
const LARGE: usize = 2_000;

/// How much of a wrong answer is told.
const SHOWN: usize = 80;

/// So many ways are told one by one.
const TOLD: usize = 10;

/// Routes and services take a while to be everywhere.
const SETTLES: Duration = Duration::from_mins(1);

/// There are more than two for every pair of nodes: one after the other, fifty
/// nodes would take minutes.
const QUESTIONS_AT_ONCE: usize = 32;

/// What is asked of a probe pod, and what is wrong if it fails.
struct Question {
    from: NodeName,
    to: String,
    host: String,
    port: u16,
    request: String,
    expected: Expected,
    code: Code,
}

/// What must be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Expected {
    /// Whatever it is: the world outside says what it likes.
    Anything,
    /// One of these: behind a Service is any of the pods.
    OneOf(Vec<String>),
}

impl Expected {
    /// Says who answered instead of whom.
    fn judge(&self, said: &str) -> Result<(), String> {
        match self {
            Self::OneOf(these) if these.iter().all(|it| it != said) => {
                Err(format!("somebody else answered: {}", short(said)))
            }
            Self::OneOf(_) | Self::Anything => Ok(()),
        }
    }
}

/// An answer may be as long as the packet that it answers.
fn short(said: &str) -> String {
    match said.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &said[..end]),
        None => said.to_owned(),
    }
}

impl Question {
    /// Returns what is wrong: a name that is not found says so, in the words of
    /// Go's resolver, before any packet is sent.
    fn broken(&self, why: &str) -> Code {
        if why.contains("lookup ") { codes::NAMES_BROKEN } else { self.code }
    }

    /// Repeats why it failed, without what was sent: an error quotes it.
    fn told(&self, why: &str) -> String {
        let asked = self.request.split_once('=').map_or("", |(_, message)| message);
        let why = if asked.is_empty() { why.to_owned() } else { why.replace(asked, "…") };
        // Which path of the API led to the pod is no part of the reason.
        let why = match why.split_once(": ") {
            Some((path, reason)) if path.starts_with("could not get /") => reason,
            _ => &why,
        };
        short(why)
    }

    /// Returns where in the API a pod is told to dial. What it is to ask for is one
    /// value of the query, whatever its letters mean in an address.
    fn path(&self, datapath: &Datapath) -> String {
        let Self { from, host, port, request, .. } = self;
        let (namespace, pod) = (datapath.mark().namespace(), Datapath::pod_name(from));
        let request = utf8_percent_encode(request, NON_ALPHANUMERIC);
        format!(
            "/api/v1/namespaces/{namespace}/pods/{pod}:{DATAPATH_PORT}/proxy/dial\
             ?host={host}&port={port}&protocol=http&tries=1&request={request}"
        )
    }
}

/// Probes the ways between all nodes.
pub(super) async fn probe(site: &Site, hands: &Hands) -> Result<Verdict, ActError> {
    let probing = Probing { site, hands, kind: ProbeKind::Datapath };
    let nodes: Vec<_> =
        site.plan.nodes.iter().map(|node| NodeName::from(node.name.as_str())).collect();
    let count = nodes.len();
    if probing.found().is_none() {
        let image = site.plan.proof.image.clone();
        let datapath = Datapath { run: hands.eyes().run(), nodes, image };
        probing.make(datapath.objects()).await?;
        let addresses = match probe_pods::addresses(site, &datapath).await? {
            Ok(addresses) => addresses,
            Err(verdict) => return Ok(verdict),
        };
        if let Some(verdict) = matrix(site, &datapath, &addresses).await? {
            return Ok(verdict);
        }
        probing.find(&format!("{count}×{count}")).await?;
    }
    Ok(match probing.clear().await? {
        Some(verdict) => verdict,
        None => Verdict::ready(
            Evidence::new(proven(site))
                .fact("pairs, with small and large packets", count * count)
                .fact("names", names(&site.plan.proof.egress))
                .fact("egress", site.plan.proof.egress.to_string()),
        ),
    })
}

/// Returns what is proven, in short. What nobody asked for is not said.
fn proven(site: &Site) -> String {
    let count = site.plan.nodes.len();
    match site.plan.proof.egress {
        Egress::None => format!("datapath {count}×{count}, DNS"),
        Egress::Page { .. } => format!("datapath {count}×{count}, DNS, egress"),
    }
}

/// Names of the world are only proven where one was asked for.
fn names(egress: &Egress) -> &'static str {
    match egress {
        Egress::Page { host, .. } if host.parse::<IpAddr>().is_err() => "inside and outside",
        Egress::Page { .. } | Egress::None => "inside",
    }
}

/// Asks every pod for every other one, and for names. Returns what is broken.
async fn matrix(
    site: &Site,
    datapath: &Datapath,
    addresses: &[(NodeName, String)],
) -> Result<Option<Verdict>, Failure> {
    let questions = questions(&site.plan, datapath, addresses);
    let asked = questions.iter().filter(|it| it.code == codes::DATAPATH_BROKEN).count();
    let asking = questions
        .into_iter()
        .map(|question| async move { (ask(site, datapath, &question).await, question) });
    let mut answers = stream::iter(asking).buffered(QUESTIONS_AT_ONCE);
    let mut broken = Vec::new();
    while let Some((answer, question)) = answers.next().await {
        if let Err(why) = answer? {
            let line = format!("{} → {}: {}", question.from, question.to, question.told(&why));
            broken.push((question.broken(&why), line));
        }
    }
    let Some((code, first)) = broken.first().cloned() else { return Ok(None) };
    let message = match code {
        codes::NAMES_BROKEN => "names do not resolve in pods".to_owned(),
        codes::EGRESS_BROKEN => "pods do not reach the outside".to_owned(),
        _ => {
            let of_nodes =
                broken.iter().filter(|(code, _)| *code == codes::DATAPATH_BROKEN).count();
            let first = first.split_once(": ").map_or(first.as_str(), |(way, _)| way);
            let mtu = if first.ends_with("large packets") { " (MTU?)" } else { "" };
            format!("{of_nodes} of {asked} node-to-node checks failed: {first}{mtu}")
        }
    };
    let tells = match code {
        codes::NAMES_BROKEN => "shows the endpoints of the cluster's DNS",
        _ => "shows the probe pods, their nodes and addresses",
    };
    let more = broken.len().checked_sub(TOLD).filter(|more| *more > 0);
    let lines = broken.into_iter().take(TOLD).map(|(_, line)| line);
    let lines: Vec<_> = lines.chain(more.map(|more| format!("and {more} more"))).collect();
    let cause = Cause::new(code, message)
        .because_of_each(lines)
        .next(looked_at(code, datapath), tells)
        .next(explain(code), "tells what to look at");
    let because = Because::new(first).in_the_end(cause).sure_after(SETTLES);
    Ok(Some(Verdict::not_yet(because)))
}

/// Shows what takes part in a broken way.
fn looked_at(code: Code, datapath: &Datapath) -> String {
    match code {
        codes::NAMES_BROKEN => {
            "kubectl -n kube-system get endpointslices -l kubernetes.io/service-name=kube-dns"
                .to_owned()
        }
        _ => format!("kubectl -n {} get pods -o wide", datapath.mark().namespace()),
    }
}

fn questions(
    plan: &spec::Plan,
    datapath: &Datapath,
    addresses: &[(NodeName, String)],
) -> Vec<Question> {
    let large = "x".repeat(LARGE);
    let domain = plan.system.domain.as_deref().unwrap_or("cluster.local");
    let service = format!("{}.{}.svc.{domain}", Datapath::SERVICE, datapath.mark().namespace());
    let pods: Vec<_> = addresses.iter().map(|(node, _)| Datapath::pod_name(node)).collect();
    let mut questions = Vec::new();
    for (from, _) in addresses {
        for (to, ip) in addresses {
            let question = |to: String, request: String, expected: String| Question {
                from: from.clone(),
                to,
                host: ip.clone(),
                port: DATAPATH_PORT,
                request,
                expected: Expected::OneOf(vec![expected]),
                code: codes::DATAPATH_BROKEN,
            };
            let name = Datapath::pod_name(to);
            questions.push(question(to.to_string(), "hostname".to_owned(), name));
            let echo = format!("echo?msg={large}");
            questions.push(question(format!("{to}, large packets"), echo, large.clone()));
        }
        questions.push(Question {
            from: from.clone(),
            to: service.clone(),
            host: service.clone(),
            port: DATAPATH_PORT,
            request: "hostname".to_owned(),
            expected: Expected::OneOf(pods.clone()),
            code: codes::DATAPATH_BROKEN,
        });
        if let Egress::Page { host, port, path } = &plan.proof.egress {
            questions.push(Question {
                from: from.clone(),
                to: host.clone(),
                host: host.clone(),
                port: *port,
                request: path.clone(),
                expected: Expected::Anything,
                code: codes::EGRESS_BROKEN,
            });
        }
    }
    questions
}

/// Lets a pod dial, through the API.
async fn ask(
    site: &Site,
    datapath: &Datapath,
    question: &Question,
) -> Result<Result<(), String>, Failure> {
    let path = question.path(datapath);
    let answer = match kube::any(site).await?.raw(&path).await {
        Ok(answer) => answer,
        Err(error) => return Ok(Err(error.failure().to_string())),
    };
    let answer: Value = serde_json::from_slice(&answer).unwrap_or_default();
    let said = answer["responses"].as_array().and_then(|all| all.first()).and_then(Value::as_str);
    Ok(match said {
        None => {
            let error =
                answer["errors"].as_array().and_then(|all| all.first()).and_then(Value::as_str);
            Err(error.unwrap_or("no answer").to_owned())
        }
        Some(said) => question.expected.judge(said),
    })
}

/// The gates that are looked at again: what was proven of the cluster must stay so.
const LASTING: [Stage; 7] =
    [Stage::Etcd, Stage::Api, Stage::Cni, Stage::Cloud, Stage::Storage, Stage::Seal, Stage::Gitops];

/// Looks at everything again that must stay so: all at once, because what comes and
/// goes is missed by looks that are far apart.
pub(super) async fn look(site: &Site) -> Verdict {
    let nodes = site.plan.nodes.iter();
    let nodes = join_all(nodes.map(async |node| (node, ready::look(site, node).await)));
    let gates = join_all(LASTING.map(async |stage| (stage, again(site, stage).await)));
    let (nodes, gates, rest) = tokio::join!(nodes, gates, others(site));
    // A node that is away makes other gates fail, too: it is told first.
    let nodes = nodes
        .into_iter()
        .map(|(node, verdict)| (Stage::Ready.as_str(), node_trouble::of(node, verdict)));
    let gates = gates.into_iter().filter_map(|(stage, verdict)| Some((stage.as_str(), verdict?)));
    let mut all = nodes.chain(gates).chain(rest);
    if let Some((gate, verdict)) = all.find(|(_, it)| !matches!(it, Verdict::Ready { .. })) {
        return unstable(gate, verdict);
    }
    let summary = format!("{}; {} stable", proven(site), site.plan.stability_window);
    Verdict::ready(Evidence::new(summary).fact("nodes", site.plan.nodes.len()))
}

/// Asks what has no gate of its own stage: metrics-server, and the last manifests.
async fn others(site: &Site) -> Vec<(&'static str, Verdict)> {
    let mut others = Vec::new();
    if Part::metrics(&site.plan).is_some() {
        others.push((addon_stage::METRICS, addon_stage::look_at_metrics(site).await));
    }
    if manifests::are_of(&site.plan, Stage::Proof) {
        others.push((Stage::Proof.as_str(), manifests::look(site, Stage::Proof).await));
    }
    others
}

/// Asks the gate of a stage again; none where the cluster file does not ask for it.
async fn again(site: &Site, stage: Stage) -> Option<Verdict> {
    Some(match stage {
        Stage::Etcd => etcd::look(site).await,
        Stage::Api => api::look(site).await,
        stage if Part::of(&site.plan, stage).is_some() || manifests::are_of(&site.plan, stage) => {
            addon_stage::look(site, stage).await
        }
        _ => return None,
    })
}

/// All of it was ready before: what is not any more did not stay so. The gate that
/// says so has a name for it.
fn unstable(gate: &str, mut verdict: Verdict) -> Verdict {
    if let Verdict::NotYet { because } = &mut verdict {
        let message = format!("the cluster did not stay healthy: {}", because.what);
        let cause = Cause::new(codes::UNSTABLE, message);
        let cause = match because.in_the_end.take() {
            Some(own) => {
                cause.because([format!("{gate}: {own}")]).because(own.because.iter().cloned())
            }
            None => cause.because([format!("{gate}: {}", because.what)]),
        };
        because.sure_after_ms = None;
        because.in_the_end = Some(Box::new(cause.next(explain(codes::UNSTABLE), "tells more")));
    }
    verdict
}

#[cfg(test)]
mod tests {
    use events::{ClusterId, RunId};

    use super::*;

    const FILE: &str = "apiVersion: seaworthy.dev/v1
kind: Cluster
metadata: { name: demo }
spec:
  cloud:
    machines:
      network: 10.0.0.0/24
      nodes: [{ name: cp-1, pool: control-plane, address: 10.0.0.1 }]
  talos: { version: v1.14.1, install: { disk: /dev/sda } }
  kubernetes: { version: v1.36.3 }
  controlPlane: {}
  addons: { cilium: {} }
";

    /// Returns what two nodes are asked in a cluster whose proof wants a page, and by whom.
    fn asked(egress: &str) -> (Datapath, Vec<Question>) {
        let file = format!("{FILE}  proof: {{ egress: '{egress}' }}\n");
        let cluster = spec::read("cluster.yaml", file.as_bytes()).into_cluster();
        let cluster = cluster.unwrap_or_else(|_| panic!("the file is right"));
        let plan = spec::Plan::of(&cluster, ClusterId::NIL);
        let nodes: Vec<NodeName> = vec!["cp-1".into(), "w-1".into()];
        let addresses: Vec<_> =
            nodes.iter().map(|node| (node.clone(), "10.244.0.1".to_owned())).collect();
        let run = RunId::new(jiff::Timestamp::UNIX_EPOCH, 7);
        let datapath = Datapath { run, nodes, image: String::new() };
        let asked = questions(&plan, &datapath, &addresses);
        (datapath, asked)
    }

    /// A page of somebody else at the address of a Service is no proof of it.
    #[test]
    fn behind_the_service_one_of_the_probe_pods_answers() {
        let (_, asked) = asked("none");
        let service = |it: &&Question| it.host.starts_with("probe.");
        assert_eq!(asked.iter().filter(service).count(), 2, "every node asks for it");
        for question in asked.iter().filter(service) {
            assert_eq!(question.expected.judge("probe-cp-1"), Ok(()));
            assert_eq!(question.expected.judge("probe-w-1"), Ok(()));
            let other = question.expected.judge("<html>it works</html>");
            assert_eq!(other, Err("somebody else answered: <html>it works</html>".to_owned()));
        }
        let to_cp = asked.iter().find(|it| it.to == "cp-1").expect("each asks for each");
        assert!(to_cp.expected.judge("probe-w-1").is_err());
    }

    #[test]
    fn a_page_is_asked_for_to_its_last_letter() {
        let (datapath, asked) = asked("http://example.com/a+b&c=50%25/\u{e4};d");
        let outside = asked.iter().find(|it| it.host == "example.com").expect("it is asked for");
        let path = outside.path(&datapath);
        let end = "&tries=1&request=a%2Bb%26c%3D50%2525%2F%C3%A4%3Bd";
        assert!(path.ends_with(end), "{path}");
        let large = asked.iter().find(|it| it.to == "w-1, large packets").expect("it is asked");
        assert!(large.path(&datapath).contains("&request=echo%3Fmsg%3Dxxx"));
    }

    #[test]
    fn told_leaves_out_the_packet_that_an_error_quotes() {
        let (_, asked) = asked("none");
        let large = asked.iter().find(|it| it.to == "w-1, large packets").expect("it is asked");
        let quoted = format!("Get \"http://10.244.0.1/{}\": i/o timeout", large.request);
        assert_eq!(large.told(&quoted), "Get \"http://10.244.0.1/echo?msg=…\": i/o timeout");
        let other = large.expected.judge(&"y".repeat(LARGE)).expect_err("it is another packet");
        assert!(other.chars().count() < 120, "{other}");
    }
}
