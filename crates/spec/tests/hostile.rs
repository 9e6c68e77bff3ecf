//! Input that no editor would write: nothing may panic, and everything gets an answer.

use proptest::prelude::*;
use spec::{Colour, Plan, Reading, Rule, plan::ClusterId};

const HETZNER: &str = include_str!("bases/hetzner.yaml");
const PROXMOX: &str = include_str!("bases/proxmox.yaml");
const MACHINES: &str = include_str!("bases/machines.yaml");

/// Reads, renders in every form and, where that is possible, plans.
fn use_it(bytes: &[u8]) -> Reading {
    let reading = spec::read_with_unsupported("cluster.yaml", bytes);
    reading.render(Colour::Plain);
    reading.render(Colour::Ansi);
    serde_json::to_string(&reading.record()).expect("a record is JSON");
    if let Some(cluster) = reading.cluster() {
        let plan = Plan::of(cluster, ClusterId::NIL);
        serde_json::to_string(&plan).expect("a plan is JSON");
    }
    assert_eq!(reading.cluster().is_some(), reading.errors() == 0);
    reading
}

fn only_rule(bytes: &[u8]) -> Rule {
    let reading = use_it(bytes);
    let [problem] = reading.problems() else {
        panic!("one problem expected:\n{}", reading.render(Colour::Plain));
    };
    problem.rule
}

#[test]
fn line_ends_and_byte_order_marks_do_not_matter() {
    let crlf = HETZNER.replace('\n', "\r\n");
    let bom = format!("\u{FEFF}{HETZNER}");
    for text in [crlf, bom] {
        assert!(use_it(text.as_bytes()).cluster().is_some());
    }
}

#[test]
fn positions_are_right_in_files_with_carriage_returns() {
    let text = HETZNER.replace("count: 3", "count: 2").replace('\n', "\r\n");
    let reading = use_it(text.as_bytes());
    let span = reading.problems()[0].span.expect("a place");
    let position = reading.source().position(span.start);
    assert_eq!((position.line, position.column), (9, 26));
    assert!(reading.render(Colour::Plain).contains("cluster.yaml:9:26"));
}

#[test]
fn json_is_yaml() {
    let json = r#"{ "apiVersion": "seaworthy.dev/v1", "kind": "Cluster", "metadata": { "name": "demo" },
        "spec": { "cloud": { "hetzner": { "location": "fsn1" } }, "talos": { "version": "v1.14.1" },
        "kubernetes": { "version": "v1.36.3" }, "controlPlane": { "count": 3, "type": "cax11" },
        "addons": { "cilium": {}, "hcloud-ccm": {} } } }"#;
    assert!(use_it(json.as_bytes()).cluster().is_some());
}

#[test]
fn a_bomb_of_aliases_is_one_problem() {
    let level = |n: u32| match n {
        0 => "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned(),
        _ => format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 9].join(", ")),
    };
    let bomb = (0..30).map(level).collect::<Vec<_>>().concat();
    let reading = use_it(bomb.as_bytes());
    let aliases = reading.problems().iter().filter(|problem| problem.rule == Rule::Alias).count();
    assert_eq!(aliases, 1);
}

#[test]
fn other_files_are_told_apart() {
    assert_eq!(only_rule(b"just some text"), Rule::WrongType);
    assert_eq!(only_rule(b"42"), Rule::WrongType);
    assert_eq!(only_rule(b"- a\n- b\n"), Rule::WrongType);
    assert_eq!(only_rule(b"~"), Rule::EmptyFile);
    assert_eq!(only_rule(b"---\n...\n"), Rule::EmptyFile);
    assert_eq!(only_rule(b"\0"), Rule::Syntax);
    assert_eq!(only_rule(&vec![b'['; 1 << 20]), Rule::TooDeep);
}

#[test]
fn a_file_full_of_mistakes_stays_readable() {
    let key = |n: u32| format!("k{n}: 1\n");
    let text = (0..90_000).map(key).collect::<Vec<_>>().concat();
    let reading = use_it(text.as_bytes());
    let rendered = reading.render(Colour::Plain);
    assert_eq!(reading.problems().len(), 1000);
    assert!(rendered.ends_with("1000 problems (the first 50 are shown)\n"));
    assert!(rendered.len() < 20_000);
}

#[test]
fn escape_codes_in_the_file_do_not_reach_the_terminal() {
    let text = HETZNER
        .replace("name: demo", "name: \"\u{1b}[31mdemo\"")
        .replace("talos:", "\"\u{1b}]0;x\u{7}\":");
    let rendered = use_it(text.as_bytes()).render(Colour::Plain);
    assert!(!rendered.contains(['\u{1b}', '\u{7}']), "{rendered}");
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        use_it(&bytes);
    }

    #[test]
    fn arbitrary_text_never_panics(text in "[ \\n\\t:{}\\[\\],&*!|>'\"#%@`a-z0-9./é-]{0,200}") {
        use_it(text.as_bytes());
    }

    #[test]
    fn a_good_file_with_a_slip_never_panics(
        base in prop::sample::select(vec![HETZNER, PROXMOX, MACHINES]),
        at in any::<prop::sample::Index>(),
        cut in 0..6_usize,
        slip in "[ \\n:{}\\[\\],&*a-z0-9./-]{0,6}",
    ) {
        let at = at.index(base.len());
        let end = (at + cut).min(base.len());
        use_it(format!("{}{slip}{}", &base[..at], &base[end..]).as_bytes());
    }
}
