//! Whether the control planes say the same of etcd, and whether it is the
//! cluster's own.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use events::{Because, Cause, Evidence, Heals, Verdict};
use talos::client::{EtcdMember, Service};

use crate::codes;
use crate::etcd_opinion::{Opinion, is_stopped};
use crate::hetzner::explain;

/// The control planes that a cluster is known to have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Known {
    /// Their names.
    pub(crate) names: Vec<String>,
    /// Where they are.
    pub(crate) addresses: Vec<IpAddr>,
}

impl Known {
    /// Returns whether a member is one of them, by its name or its address: the
    /// name is missing until a member has started, and who has many addresses
    /// may use one that nobody knows. Where none is known, anybody may be.
    pub(crate) fn has(&self, member: &EtcdMember) -> bool {
        let is_named = |name: &String| {
            name.strip_prefix(member.hostname.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.names.is_empty()
            || (!member.hostname.is_empty() && self.names.iter().any(is_named))
            || self.addresses.iter().any(|address| is_at(member, *address))
    }
}

/// Returns whether other members reach a member at an address.
pub(crate) fn is_at(member: &EtcdMember, address: IpAddr) -> bool {
    member.peer_urls.iter().any(|url| host(url) == Some(address))
}

/// Returns the address in `https://10.0.0.1:2380`.
fn host(url: &str) -> Option<IpAddr> {
    let (_, host) = url.split_once("://")?;
    host.parse::<SocketAddr>().ok().map(|address| address.ip())
}

/// Talos tells no cluster id: equal members and an equal leader on every
/// control plane are the test against two clusters.
pub(crate) fn judge(wanted: usize, opinions: &[Opinion]) -> Verdict {
    let ids =
        |opinion: &Opinion| opinion.members.iter().map(|member| member.id).collect::<BTreeSet<_>>();
    let sets: BTreeSet<_> = opinions.iter().map(ids).collect();
    let leaders: BTreeSet<_> = opinions.iter().map(|it| it.status.leader).collect();
    let learners = opinions.iter().any(|it| it.members.iter().any(|member| member.is_learner));
    let complete = sets.iter().all(|members| members.len() == wanted);
    let agreed = sets.len() == 1 && leaders.len() == 1 && !leaders.contains(&None);
    let mut evidence = seen(Evidence::new("").fact("members", wanted), opinions);
    let complaints = complaints(opinions);
    if agreed && !complaints.is_empty() {
        return unwell(&complaints, evidence);
    }
    if complete && agreed && !learners {
        let leader = opinions.iter().find(|it| Some(it.status.member) == it.status.leader);
        let leader = leader.map_or("one", |it| it.node.as_str());
        let members = if wanted == 1 { "1 member".to_owned() } else { format!("{wanted} members") };
        evidence.summary = format!("{members}, leader {leader}");
        return Verdict::ready(evidence);
    }
    if are_apart(&sets) {
        return split(opinions, evidence);
    }
    let most = sets.iter().map(BTreeSet::len).max().unwrap_or(0);
    let what = match (complete, agreed) {
        (false, _) => format!("{most} of {wanted} members have joined"),
        (true, false) => "the control planes do not agree about members or leader".to_owned(),
        (true, true) => "a member has no vote yet".to_owned(),
    };
    let cause = Cause::new(codes::ETCD_DISAGREES, format!("etcd: {what}"))
        .because_of_each(opinions.iter().map(Opinion::line))
        .seen(evidence)
        .next(explain(codes::ETCD_DISAGREES), "tells more");
    Verdict::not_yet(Because::new(what).in_the_end(cause))
}

/// Returns whether some control planes see only members that others do not see at
/// all. Who joins sees those that he joins.
fn are_apart(sets: &BTreeSet<BTreeSet<u64>>) -> bool {
    let mut pairs = sets.iter().flat_map(|one| sets.iter().map(move |other| (one, other)));
    pairs.any(|(one, other)| one.is_disjoint(other) && !one.is_empty() && !other.is_empty())
}

/// Says that there is more than one etcd: each would answer for the cluster.
fn split(opinions: &[Opinion], evidence: Evidence) -> Verdict {
    let what = "the control planes run separate etcd clusters";
    let cause = Cause::new(codes::ETCD_DISAGREES, format!("etcd: {what}"))
        .heals(Heals::Never)
        .because_of_each(opinions.iter().map(Opinion::line))
        .so("etcd clusters do not merge: one of them has to be wiped")
        .seen(evidence)
        .next("talosctl etcd members", "shows the members that a control plane knows")
        .next(explain(codes::ETCD_DISAGREES), "tells more");
    Verdict::not_yet(Because::new(what).in_the_end(cause))
}

/// Returns what is said to be wrong, with the name of the member that it is about. Each
/// tells the alarms of all, so that who tells one is not who has it.
fn complaints(opinions: &[Opinion]) -> BTreeSet<(String, String)> {
    let mut complaints = BTreeSet::new();
    for opinion in opinions {
        for error in &opinion.status.errors {
            let member = |id| opinion.members.iter().find(|it| it.id == id).map(named);
            let about = match alarmed(error) {
                Some(id) => member(id).unwrap_or_else(|| format!("member {id:x}")),
                None => opinion.node.clone(),
            };
            complaints.insert((about, error.trim().to_owned()));
        }
    }
    complaints
}

/// Reads whose alarm it is: `memberID:1 alarm:NOSPACE`.
fn alarmed(error: &str) -> Option<u64> {
    let id = error.trim_start().strip_prefix("memberID:")?.split_whitespace().next()?;
    id.parse().ok()
}

/// Reads which alarm it is.
fn alarm_name(error: &str) -> Option<&str> {
    error.split_once("alarm:").map(|(_, name)| name.trim())
}

/// Says that a member is not well, such as that it has no room left, so that etcd takes no
/// more writes.
fn unwell(complaints: &BTreeSet<(String, String)>, evidence: Evidence) -> Verdict {
    let lines = complaints.iter().map(|(about, error)| format!("{about}: {error}"));
    let lines: Vec<_> = lines.collect();
    let mut about: Vec<_> = complaints.iter().map(|(about, _)| about.as_str()).collect();
    about.dedup();
    let what = format!("etcd reports of {}", lines.join("; "));
    let alarms: Vec<_> = complaints.iter().filter_map(|(_, error)| alarm_name(error)).collect();
    let message = match alarms.first() {
        Some(alarm) => format!("etcd on {} reports the alarm {alarm}", about.join(" and ")),
        None => format!("etcd on {} is not well", about.join(" and ")),
    };
    // Only an alarm stays until somebody disarms it.
    let is_alarm = complaints.iter().any(|(_, error)| alarmed(error).is_some());
    let cause = Cause::new(codes::ETCD_UNWELL, message)
        .heals(if is_alarm { Heals::AfterAction } else { Heals::ByItself })
        .because_of_each(lines)
        .seen(evidence)
        .next("talosctl etcd alarm list", "shows the alarms of all members")
        .next("talosctl etcd status", "shows how large their databases are")
        .next(explain(codes::ETCD_UNWELL), "tells more");
    Verdict::not_yet(Because::new(what).in_the_end(cause))
}

/// Says that a member is none of the planned control planes, which is the test
/// against the data of another cluster. One that a control plane is itself came
/// from its disk; another may have been a control plane.
pub(crate) fn strange(opinions: &[Opinion], known: &Known) -> Option<Verdict> {
    let mut owns = opinions.iter().filter_map(|it| Some((it, it.own()?)));
    let foreign = owns.find(|(_, own)| !known.has(own));
    if let Some((opinion, own)) = foreign {
        return Some(Verdict::failed(data_of_another(opinion, own, opinions)));
    }
    let members = opinions.iter().flat_map(|it| &it.members);
    let stranger = members.into_iter().find(|member| !known.has(member))?;
    Some(departed(stranger, opinions))
}

/// Says that a member is no control plane, and may have been one.
pub(crate) fn departed(stranger: &EtcdMember, opinions: &[Opinion]) -> Verdict {
    let what =
        format!("etcd has a member that is no control plane of this cluster: {}", told(stranger));
    let cause = Cause::new(codes::ETCD_DISAGREES, what.clone())
        .heals(Heals::AfterAction)
        .because_of_each(opinions.iter().map(Opinion::line))
        .seen(seen(Evidence::new(""), opinions))
        .next(
            "talosctl etcd members",
            "shows it with its id; `talosctl etcd remove-member` takes it out",
        )
        .next(explain(codes::ETCD_DISAGREES), "tells more");
    Verdict::not_yet(Because::new(what).in_the_end(cause))
}

fn data_of_another(opinion: &Opinion, own: &EtcdMember, opinions: &[Opinion]) -> Cause {
    let node = &opinion.node;
    Cause::new(codes::ETCD_DATA_FOREIGN, format!("etcd on {node} is that of another cluster"))
        .because([format!("it runs as the member {}, which this cluster does not have", told(own))])
        .also(opinions.iter().map(Opinion::line))
        .so("its data was on the disk before the machine was given its config")
        .seen(seen(Evidence::new(""), opinions))
        .next("talosctl etcd members", "shows the members that a control plane knows")
        .next(explain(codes::ETCD_DATA_FOREIGN), "tells more")
}

fn told(member: &EtcdMember) -> String {
    let urls = member.peer_urls.join(", ");
    let name = if member.hostname.is_empty() { "without a name" } else { &member.hostname };
    format!("{name} at {urls}")
}

/// Returns what a member is called: by its address until it has started.
pub(crate) fn named(member: &EtcdMember) -> String {
    match member.hostname.as_str() {
        "" => place(member),
        name => name.to_owned(),
    }
}

/// Returns where a member is; its id where it does not tell.
pub(crate) fn place(member: &EtcdMember) -> String {
    let address = member.peer_urls.iter().find_map(|url| host(url));
    address.map_or_else(|| format!("{:x}", member.id), |it| it.to_string())
}

fn seen(evidence: Evidence, opinions: &[Opinion]) -> Evidence {
    opinions.iter().fold(evidence, |evidence, opinion| {
        evidence.fact(format!("seen by {}", opinion.node), opinion.line())
    })
}

/// Says that etcd runs on control planes, and none of them leads.
pub(crate) fn quorum_lost(nodes: &[&str]) -> Cause {
    let lines = nodes.iter().map(|node| format!("etcd runs on {node}, and knows no leader"));
    Cause::new(codes::ETCD_QUORUM_LOST, "etcd has lost its quorum")
        .because_of_each(lines)
        .so("most of its members are gone; a second etcd beside it would be empty")
        .next(explain(codes::ETCD_QUORUM_LOST), "tells how to get it back")
}

/// The same, of an etcd that is only looked at; a new one is leaderless too, for
/// a moment.
pub(crate) fn leaderless(nodes: &[&str]) -> Verdict {
    let what = format!("etcd on {} knows no leader", nodes.join(", "));
    Verdict::not_yet(Because::new(what).in_the_end(quorum_lost(nodes)))
}

/// Says that a second bootstrap has stopped etcd on a node for good. talosctl asks the
/// node `at` an address: other nodes do not know its name.
pub(crate) fn wedged(node: &str, at: &str) -> Cause {
    Cause::new(codes::ETCD_WEDGED, format!("a second bootstrap has stopped etcd on {node}"))
        .because(["its service is Finished: Bootstrap requested".to_owned()])
        .so("it does not start again by itself, and no call can start it")
        .next(
            format!("talosctl -n {at} reboot --wait=false"),
            "restarts the node, which starts etcd; then run the same command again",
        )
        .next(explain(codes::ETCD_WEDGED), "tells more")
}

/// Says that etcd was begun on a node, and that nobody has it now.
pub(crate) fn gone(node: &str, at: &str) -> Cause {
    let what = format!("etcd was begun on {node}, and no control plane has it now");
    Cause::new(codes::ETCD_GONE, what)
        .because([format!(
            "etcd on {node} waits to be begun, as a machine that is new or was wiped does"
        )])
        .so("what was in it is gone; none was begun in its place, since it would be empty")
        .next(
            format!("talosctl -n {at} bootstrap --recover-from=FILE"),
            "begins with a snapshot; then run the same command again",
        )
        .next(
            format!("talosctl -n {at} bootstrap"),
            "begins an empty one; then run the same command again",
        )
        .next(explain(codes::ETCD_GONE), "tells more")
}

/// Says that etcd does not run on a node, and what its service does instead.
pub(crate) fn not_running(
    node: &str,
    at: &str,
    etcd: Option<&Service>,
    others: &[Opinion],
) -> Cause {
    if is_stopped(etcd) {
        return wedged(node, at);
    }
    let state = etcd.map(|etcd| match etcd.last_event.as_str() {
        "" => format!("its service is {}", etcd.state),
        event => format!("its service is {}: {event}", etcd.state),
    });
    Cause::new(codes::ETCD_NOT_RUNNING, format!("etcd does not run on {node}"))
        .because(state)
        .also(others.iter().map(Opinion::line))
        .next(format!("talosctl -n {at} service etcd"), "shows what it waits for")
        .next(explain(codes::ETCD_NOT_RUNNING), "tells more")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alarm_is_told_of_the_member_that_has_it_whoever_tells_it() {
        let mut opinions: Vec<_> = (1..=3).map(|of| Opinion::sample(of, 3)).collect();
        assert!(matches!(judge(3, &opinions), Verdict::Ready { .. }));
        for opinion in &mut opinions {
            opinion.status.errors.push("memberID:3 alarm:CORRUPT ".to_owned());
        }
        let verdict = judge(3, &opinions);
        let Verdict::NotYet { because } = verdict else { panic!("{verdict:?}") };
        assert_eq!(because.what, "etcd reports of cp-3: memberID:3 alarm:CORRUPT");
        let cause = because.in_the_end.expect("it has a name");
        assert_eq!(
            (cause.code, cause.message.as_str()),
            (codes::ETCD_UNWELL, "etcd on cp-3 reports the alarm CORRUPT")
        );
    }

    #[test]
    fn separate_etcd_clusters_do_not_heal_and_members_that_join_may() {
        let heals = |opinions: &[Opinion]| {
            let verdict = judge(3, opinions);
            let cause = verdict.cause().expect("it has a name");
            (cause.code, cause.heals)
        };
        let mut alone = Opinion::sample(3, 3);
        alone.members.retain(|member| member.id == 3);
        alone.status.leader = Some(3);
        let split = [Opinion::sample(1, 2), Opinion::sample(2, 2), alone];
        assert_eq!(heals(&split), (codes::ETCD_DISAGREES, Some(Heals::Never)));
        let joining = [Opinion::sample(1, 2), Opinion::sample(2, 2), Opinion::sample(3, 3)];
        assert_eq!(heals(&joining), (codes::ETCD_DISAGREES, None));
    }

    #[test]
    fn an_error_that_is_no_alarm_is_of_whoever_reports_it() {
        let mut opinion = Opinion::sample(1, 1);
        opinion.status.errors.push("etcdserver: something new".to_owned());
        let complaints = complaints(&[opinion]);
        let (about, error) = complaints.first().expect("it complains");
        assert_eq!((about.as_str(), error.as_str()), ("10.0.0.1", "etcdserver: something new"));
    }
}
