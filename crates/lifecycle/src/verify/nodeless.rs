//! Members of etcd that Kubernetes knows no control plane for.
//!
//! Whoever only looks has no plan to hold them against: a control plane is a
//! member before its kubelet has registered a Node, and stays one when its Node
//! is deleted. So this says nothing of whose etcd it is.

use std::net::IpAddr;

use events::{Because, Cause, Verdict};
use talos::client::EtcdMember;

use crate::codes;
use crate::etcd_opinion::Opinion;
use crate::etcd_verdict::{Known, departed, is_at, named, place};
use crate::hetzner::explain;

/// Says that a member of etcd has no Node. `asked` is where control planes were
/// asked: who answers there is one, whatever Kubernetes knows.
pub(super) fn nodeless(opinions: &[Opinion], nodes: &Known, asked: &[IpAddr]) -> Option<Verdict> {
    let members = opinions.iter().flat_map(|it| &it.members);
    let member = members.into_iter().find(|member| !nodes.has(member))?;
    let is_own = |opinion: &Opinion| opinion.own().is_some_and(|own| own.id == member.id);
    if !opinions.iter().any(is_own) && !asked.iter().any(|address| is_at(member, *address)) {
        return Some(departed(member, opinions));
    }
    let what = format!("{} is a member of etcd and has no Node as a control plane", named(member));
    let cause = never_registered(member, &what, opinions);
    Some(Verdict::not_yet(Because::new(what).in_the_end(cause)))
}

fn never_registered(member: &EtcdMember, what: &str, opinions: &[Opinion]) -> Cause {
    let kubelet = format!("talosctl -n {} service kubelet", place(member));
    Cause::new(codes::NODE_NEVER_JOINED, what)
        .because(opinions.iter().map(Opinion::line))
        .so("its etcd works; what is missing is its kubelet, or the Node was deleted")
        .next("kubectl get nodes", "shows those that have registered")
        .next(kubelet, "shows how its kubelet is")
        .next(explain(codes::NODE_NEVER_JOINED), "tells what to look at")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::etcd_verdict::judge;

    /// What a control plane says that sees three members.
    fn opinion(of: u64) -> Opinion {
        Opinion::sample(of, 3)
    }

    fn registered(ids: impl Iterator<Item = u64>) -> Known {
        Known { names: ids.map(|id| format!("cp-{id}")).collect(), addresses: Vec::new() }
    }

    fn address(of: u64) -> IpAddr {
        format!("10.0.0.{of}").parse().unwrap()
    }

    fn end(verdict: Verdict) -> Cause {
        match verdict {
            Verdict::NotYet { because } => *because.in_the_end.unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_control_plane_without_a_node_is_waited_for() {
        let asked: Vec<_> = (1..4).map(address).collect();
        let opinions: Vec<_> = (1..4).map(opinion).collect();
        let cause = end(nodeless(&opinions, &registered(1..3), &asked).unwrap());
        assert_eq!(cause.code, codes::NODE_NEVER_JOINED, "{cause:?}");
        assert_eq!(cause.message, "cp-3 is a member of etcd and has no Node as a control plane");
        // By its address alone: the member's id is not told by itself.
        let cause = end(nodeless(&opinions[..1], &registered(1..3), &asked).unwrap());
        assert_eq!(cause.code, codes::NODE_NEVER_JOINED, "{cause:?}");
        assert_eq!(nodeless(&opinions, &registered(1..4), &asked), None);
        assert!(matches!(judge(3, &opinions), Verdict::Ready { .. }));
    }

    #[test]
    fn a_member_that_nobody_asked_may_be_gone() {
        let cause = end(nodeless(&[opinion(1)], &registered(1..3), &[address(1)]).unwrap());
        assert_eq!(cause.code, codes::ETCD_DISAGREES, "{cause:?}");
        assert!(cause.message.contains("cp-3 at https://10.0.0.3:2380"), "{cause:?}");
    }

    #[test]
    fn before_anybody_has_registered_nobody_lacks_a_node() {
        assert_eq!(nodeless(&[opinion(1)], &Known::default(), &[address(1)]), None);
    }
}
