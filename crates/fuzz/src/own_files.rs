//! Files of our own, which people edit and disks spoil.

use std::io::Write as _;

use events::journal;
use spec::{Colour, Plan, plan::ClusterId};

use crate::Target;

pub(crate) const TARGETS: &[Target] = &[
    Target { name: "cluster-file", seeds: CLUSTERS, feed: read_cluster },
    Target { name: "journal", seeds: JOURNALS, feed: read_journal },
];

const CLUSTERS: &[&str] = &[
    include_str!("../../../examples/hetzner.yaml"),
    include_str!("../../../examples/machines.yaml"),
    include_str!("../../spec/tests/bases/proxmox.yaml"),
];

const JOURNALS: &[&str] = &[
    r#"{"journal":"seaworthy","version":"1.0","run":"01JC0000000000000000000000","cluster":"00000000-0000-0000-0000-000000000000","prev":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}
"#,
];

fn read_cluster(bytes: &[u8]) {
    let reading = spec::read("cluster.yaml", bytes);
    let _ = (reading.render(Colour::Plain), reading.render(Colour::Ansi));
    if let Some(cluster) = reading.cluster() {
        let _ = Plan::of(cluster, ClusterId::NIL);
    }
    assert_eq!(reading.cluster().is_some(), reading.errors() == 0, "an error, or a cluster");
}

/// The writer's own journals are read back in the tests of `events`.
fn read_journal(bytes: &[u8]) {
    let mut file = tempfile::NamedTempFile::new().expect("a file can be made");
    file.write_all(bytes).expect("a file can be written");
    let read = journal::read(file.path()).map_err(|error| error.to_string());
    let chain = journal::verify(file.path());
    assert!(read.is_err() || chain.is_ok(), "a journal was read whose chain is broken");
}
