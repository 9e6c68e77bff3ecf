//! What is another in every run is replaced.

use std::net::Ipv4Addr;

use regex::Regex;

/// What is replaced, by what. The order matters.
const RULES: &[(&str, &str)] = &[
    (r"\d{4}-\d\d-\d\dT[0-9:.]+Z", "TIME"),
    (r"\b[0-9a-f]{16}\b", "MEMBER"),
    (r"\b(\d+h)?(\d+m)?\d+(\.\d+)?(ms|s) ago", "AGE ago"),
    (r"\b\d+(\.\d+)? [kM]B( \(\d+\.\d+%\))?", "SIZE"),
    // The version of a resource counts its changes.
    (r"(?m)^(NODE (?:runtime|k8s|cluster|etcd|config|v1alpha1) \S+ \S+) \d+", "$1 VERSION"),
    (r"(?m)^    version: \d+$", "    version: VERSION"),
    // Raft's index and term, after the leader.
    (r"(MEMBER) \d+ \d+ \d+ (true|false)", "$1 INDEX TERM INDEX $2"),
    (r"/tmp/\S+", "FILE"),
    // What the two clusters do not share of their configs.
    (r"\b(crt|key|token|id|nodeId|secret|secretboxEncryptionSecret): \S{20,}", "$1: SECRET"),
    (r#"(?m)"(version|nodeId)": \S+?(,?)$"#, "\"$1\": ANY$2"),
    (r"http://[0-9.:]+", "REGISTRY"),
];

/// Replaces what is another in every run, and the widths of columns.
pub(crate) fn normal(text: &str, addresses: &[Ipv4Addr]) -> Vec<String> {
    let columns = Regex::new(r"(\S) {2,}").unwrap();
    let text = addresses.iter().fold(text.to_owned(), |text, address| {
        // None of them is the beginning of another.
        text.replace(&address.to_string(), "NODE")
    });
    let text = columns.replace_all(&text, "$1 ").into_owned();
    let text = RULES.iter().fold(text, |text, (pattern, by)| {
        Regex::new(pattern).unwrap().replace_all(&text, *by).into_owned()
    });
    text.lines().map(|line| line.trim_end().to_owned()).filter(|line| !line.is_empty()).collect()
}

#[test]
fn what_is_another_in_every_run_is_replaced() {
    let address = [Ipv4Addr::new(10, 88, 0, 10)];
    let text = "NODE         SERVICE   LAST CHANGE\n10.88.0.10   apid      1m46s ago     well\n\n    updated: 2026-11-15T19:23:29Z\n";
    let expected = ["NODE SERVICE LAST CHANGE", "NODE apid AGE ago well", "    updated: TIME"];
    assert_eq!(normal(text, &address), expected);
    let text = "10.88.0.10   k8s   NodeStatus   cp-1   5   true   false\n";
    assert_eq!(normal(text, &address), ["NODE k8s NodeStatus cp-1 VERSION true false"]);
    let text = "+        crt: LS0tLS1CRUdJTiBDRVJUSUZJ\n+    token: tb337f.lzysv3yj6y3anp1f\n    id: machine\n";
    assert_eq!(normal(text, &address), ["+ crt: SECRET", "+ token: SECRET", "    id: machine"]);
}
