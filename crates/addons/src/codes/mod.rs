//! The causes that gates of addons name, `SW0400` to `SW0499`, and a page for each.

mod pages;

use events::Code;

pub use pages::PAGES;

/// What `seaworthy explain` prints for a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// The code.
    pub code: Code,
    /// What it means in one line.
    pub title: &'static str,
    /// What it means, how to see it, what to do.
    pub text: &'static str,
}

/// A workload of an addon does not exist.
pub const WORKLOAD_MISSING: Code = Code(400);
/// A workload has not caught up with what was asked of it.
pub const WORKLOAD_BEHIND: Code = Code(401);
/// An image cannot be pulled.
pub const IMAGE_NOT_PULLED: Code = Code(402);
/// A container keeps exiting.
pub const POD_CRASHES: Code = Code(403);
/// No node takes a pod.
pub const POD_UNSCHEDULABLE: Code = Code(404);
/// A pod refers to something that is not there.
pub const POD_MISCONFIGURED: Code = Code(405);
/// A volume cannot be mounted.
pub const VOLUME_NOT_MOUNTED: Code = Code(406);
/// A node has not registered.
pub const NODE_ABSENT: Code = Code(407);
/// A node has no working Cilium agent.
pub const CILIUM_AGENT_MISSING: Code = Code(410);
/// A node still waits for its Cilium agent.
pub const CILIUM_TAINT_LEFT: Code = Code(411);
/// A node says that its network does not work.
pub const NETWORK_UNAVAILABLE: Code = Code(413);
/// A node has no working pod of the pod network.
pub const POD_NETWORK_MISSING: Code = Code(414);
/// The cloud controller has not initialised a node.
pub const NODE_UNINITIALIZED: Code = Code(420);
/// A node claims to be another server.
pub const PROVIDER_ID_WRONG: Code = Code(421);
/// A node has another address than its server.
pub const ADDRESS_WRONG: Code = Code(422);
/// The network has no route to a node's pods.
pub const ROUTE_MISSING: Code = Code(423);
/// A node has no working plugin of the storage driver.
pub const CSI_PLUGIN_MISSING: Code = Code(430);
/// The storage driver is not registered on a node.
pub const CSI_DRIVER_UNREGISTERED: Code = Code(431);
/// An object that describes the storage is missing.
pub const STORAGE_OBJECT_MISSING: Code = Code(432);
/// Sealed Secrets seals for another key than ours.
pub const SEALING_KEY_FOREIGN: Code = Code(440);
/// Sealed Secrets serves no certificate.
pub const SEALING_CERTIFICATE_UNREADABLE: Code = Code(441);
/// Flux could not bring something about.
pub const FLUX_NOT_READY: Code = Code(450);
/// Flux has given up on an object.
pub const FLUX_STALLED: Code = Code(451);
/// Flux is at another revision than the branch.
pub const FLUX_BEHIND: Code = Code(452);
/// Flux was never told what to follow.
pub const FLUX_OBJECT_MISSING: Code = Code(453);
/// Somebody told Flux to pause.
pub const FLUX_SUSPENDED: Code = Code(454);
/// The metrics API does not answer.
pub const METRICS_UNAVAILABLE: Code = Code(460);
/// Something that the cluster file's manifests bring is not ready.
pub const MANIFEST_NOT_READY: Code = Code(470);

/// Returns the page of a code, if it is one of these.
pub fn page(code: Code) -> Option<&'static Page> {
    PAGES.iter().find(|page| page.code == code)
}

/// Returns what a code means in one line.
pub(crate) fn title(code: Code) -> &'static str {
    page(code).map_or("an unknown cause", |page| page.title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_in_order_in_range_and_whole() {
        assert!(PAGES.windows(2).all(|pair| pair[0].code < pair[1].code));
        for page in PAGES {
            assert!((400..500).contains(&page.code.0), "{}", page.code);
            assert!(!page.title.is_empty() && page.title.len() <= 72, "{}", page.code);
            assert!(!page.title.contains('\n') && !page.title.ends_with('.'), "{}", page.code);
            for part in ["What it means", "How to see it", "What to do"] {
                assert!(page.text.contains(part), "{} lacks `{part}`", page.code);
            }
            assert!(page.text.lines().all(|line| line.len() <= 80), "{}", page.code);
        }
    }

    /// The source names the codes; each of them must have its page.
    #[test]
    fn every_code_has_a_page() {
        let source = include_str!("mod.rs");
        let consts: Vec<u16> = source
            .lines()
            .filter(|line| line.starts_with("pub const "))
            .filter_map(|line| line.split_once("Code(")?.1.strip_suffix(");")?.parse().ok())
            .collect();
        assert_eq!(consts.len(), PAGES.len());
        for code in consts {
            assert!(page(Code(code)).is_some(), "{}", Code(code));
        }
    }
}
