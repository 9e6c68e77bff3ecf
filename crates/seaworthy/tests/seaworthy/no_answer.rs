//! What is told where nobody answers: what was tried, what came, what to do.

use std::net::TcpListener;

use crate::workplace::Workplace;

const CLUSTER: &str = "\
apiVersion: seaworthy.dev/v1
kind: Cluster
metadata: { name: demo }
spec:
  cloud: { hetzner: { location: fsn1 } }
  talos: { version: v1.14.1 }
  kubernetes: { version: v1.36.3 }
  controlPlane: { count: 1, type: cax11 }
  manifests: [{ name: charts, path: charts.yaml, after: api }]
";

/// What stands for rendered charts.
const CHARTS: &str = "apiVersion: v1\nkind: Namespace\nmetadata: { name: charts }\n";

/// An address of this machine at which nobody listens.
fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("https://{}", listener.local_addr().unwrap())
}

/// Returns the block that explains the failure, without what differs each time.
fn block(stderr: &str, endpoint: &str) -> String {
    let lines = stderr.lines().skip_while(|line| !line.starts_with("error["));
    let told: Vec<_> = lines.take_while(|line| !line.is_empty()).collect();
    let address = endpoint.trim_start_matches("https://");
    told.join("\n").replace(address, "127.0.0.1:PORT")
}

#[test]
fn an_address_that_nobody_knows_is_asked_for_before_anything_is_made() {
    let (place, endpoint) = (Workplace::new(), nobody());
    place.write("cluster.yaml", CLUSTER);
    place.write("charts.yaml", CHARTS);
    let mut command = place.command(["up", "--cloud-endpoint", &endpoint]);
    let output = command.env("HCLOUD_TOKEN", "canary-hunter22").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    insta::assert_snapshot!(String::from_utf8(output.stderr).unwrap());
}

#[test]
fn a_cloud_that_does_not_answer_is_told_with_a_next_step() {
    let (place, endpoint) = (Workplace::new(), nobody());
    place.write("cluster.yaml", CLUSTER);
    place.write("charts.yaml", CHARTS);
    let told = |args: &[&str]| {
        let mut command = place.command(args);
        command.args(["--cloud-endpoint", &endpoint, "--my-ip", "198.51.100.7"]);
        let output = command.env("HCLOUD_TOKEN", "canary-hunter22").output().unwrap();
        assert_eq!(output.status.code(), Some(3));
        block(&String::from_utf8(output.stderr).unwrap(), &endpoint)
    };
    insta::with_settings!({ filters => vec![(r"after (\d+ looks in )?[0-9.]+m?s", "after [a while]")] }, {
        insta::assert_snapshot!(told(&["up", "--timeout", "preflight=1s"]));
    });
}
