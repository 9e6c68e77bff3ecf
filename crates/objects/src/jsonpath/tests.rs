//! Paths that lead somewhere, and texts that are none.

use serde_json::{Value, json};

use super::*;

fn pod() -> Value {
    json!({
        "metadata": { "annotations": { "app.kubernetes.io/name": "web" }, "labels": { "a": "b" } },
        "spec": { "containers": [
            { "name": "app", "image": "web:1", "ports": [{ "port": 80 }, { "port": 443 }] },
            { "name": "side", "image": "side:1", "tty": true },
        ] },
        "status": { "phase": "Running", "restarts": 3, "conditions": [
            { "type": "Initialized", "status": "True" }, { "type": "Ready", "status": "False" },
        ] },
    })
}

#[test]
fn paths_lead_to_values() {
    let table = [
        ("{.status.phase}", json!(["Running"])),
        (".status.phase", json!(["Running"])),
        ("status.phase", json!(["Running"])),
        ("{$.status.phase}", json!(["Running"])),
        ("{.status['phase']}", json!(["Running"])),
        (r"{.metadata.annotations.app\.kubernetes\.io/name}", json!(["web"])),
        ("metadata.annotations[\"app.kubernetes.io/name\"]", json!(["web"])),
        ("{.spec.containers[0].name}", json!(["app"])),
        ("{.spec.containers[-1].name}", json!(["side"])),
        ("{.spec.containers[7].name}", json!([])),
        ("{.spec.containers[-7].name}", json!([])),
        ("{.spec.containers[*].name}", json!(["app", "side"])),
        ("{.spec.containers.[*].name}", json!(["app", "side"])),
        ("{.metadata.labels.*}", json!(["b"])),
        ("{.spec.containers[*].ports[*].port}", json!([80, 443])),
        (r#"{.status.conditions[?(@.type=="Ready")].status}"#, json!(["False"])),
        (r"{.status.conditions[?(@.type == 'Ready')].status}", json!(["False"])),
        (r#"{.status.conditions[?(@.type!="Ready")].status}"#, json!(["True"])),
        (r#"spec.containers[name="app"].image"#, json!(["web:1"])),
        ("{.spec.containers[?(@.tty==true)].name}", json!(["side"])),
        ("{.spec.containers[?(@.ports)].name}", json!(["app"])),
        ("{.spec.containers[?(@.ports[0].port>=80)].name}", json!(["app"])),
        ("{.spec.containers[0].ports[?(@.port>80)].port}", json!([443])),
        ("{.spec.containers[0].ports[?(@.port<=80)].port}", json!([80])),
        ("{.status.phase.more}", json!([])),
        ("{.nothing}", json!([])),
    ];
    for (path, wanted) in table {
        let parsed: JsonPath = path.parse().unwrap();
        let pod = pod();
        let found: Vec<Value> = parsed.select(&pod).into_iter().cloned().collect();
        assert_eq!(Value::Array(found), wanted, "{path}");
        assert_eq!(parsed.to_string(), path);
    }
}

#[test]
fn what_is_no_path_says_where() {
    let table = [
        ("", "it selects nothing at character 0"),
        ("{}", "it selects nothing at character 2"),
        ("{.a", "`{` is not closed at character 3"),
        ("{.a.}", "a key, an index, `*` or a filter is missing at character 4"),
        ("{..a}", "`..` is not supported at character 2"),
        ("{.a[0", "`[` is not closed at character 3"),
        ("{.a[]}", "a key, an index, `*` or a filter is missing at character 4"),
        ("{.a[0:2]}", "only one index is supported at character 5"),
        ("{.a[0,1]}", "only one index is supported at character 5"),
        ("{.a['b]}", "`'` is not closed at character 4"),
        ("{.a[?(x)]}", "a filter such as `?(@.type==\"Ready\")` is missing at character 6"),
        ("{.a[?(@.b==\"c\"]}", "`(` is not closed at character 14"),
        ("{.a[?(@.b==c)]}", "a filter such as `?(@.type==\"Ready\")` is missing at character 11"),
        ("{.a}{.b}", "`{` does not continue a path at character 4"),
        ("{.a b}", "` ` does not continue a path at character 3"),
        ("a b", "` ` does not continue a path at character 1"),
        ("{.a[ü'", "a filter such as `?(@.type==\"Ready\")` is missing at character 6"),
    ];
    for (text, wanted) in table {
        let error = text.parse::<JsonPath>().unwrap_err();
        assert_eq!(error.to_string(), format!("`{text}` is not a path: {wanted}"), "{text}");
    }
}

#[test]
fn a_prefix_ends_where_a_test_begins() {
    for (text, path, rest) in [
        ("{.a.b}=c", "{.a.b}", "=c"),
        (".a.b=c=d", ".a.b", "=c=d"),
        ("a[x=\"=\"].b>3", "a[x=\"=\"].b", ">3"),
        ("a.b~^x.*$", "a.b", "~^x.*$"),
        ("{.a}", "{.a}", ""),
    ] {
        let (found, left) = JsonPath::prefix(text).unwrap();
        assert_eq!((found.to_string().as_str(), left), (path, rest));
    }
}
