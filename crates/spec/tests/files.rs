//! Whole files: the examples, and one with ten mistakes.

use spec::Colour;

const EXAMPLES: [(&str, &str); 2] = [
    ("hetzner.yaml", include_str!("../../../examples/hetzner.yaml")),
    ("machines.yaml", include_str!("../../../examples/machines.yaml")),
];

const TEN_MISTAKES: &[u8] = include_bytes!("ten-mistakes.yaml");

#[test]
fn the_examples_are_good() {
    for (name, text) in EXAMPLES {
        let reading = spec::read(name, text.as_bytes());
        assert_eq!(reading.errors(), 0, "{}", reading.render(Colour::Plain));
        assert!(reading.cluster().is_some());
    }
}

#[test]
fn only_the_single_control_plane_is_warned_about() {
    for (name, text) in EXAMPLES {
        let reading = spec::read(name, text.as_bytes());
        let rules: Vec<&str> =
            reading.problems().iter().map(|problem| problem.rule.as_str()).collect();
        let expected: &[&str] =
            if name == "machines.yaml" { &["single-control-plane"] } else { &[] };
        assert_eq!(rules, expected, "{name}");
    }
}

#[test]
fn ten_mistakes_get_ten_messages() {
    let reading = spec::read("cluster.yaml", TEN_MISTAKES);
    assert_eq!(reading.problems().len(), 10);
    assert!(reading.cluster().is_none());
    insta::assert_snapshot!(reading.render(Colour::Plain));
}

#[test]
fn colours_carry_no_meaning_of_their_own() {
    let reading = spec::read("cluster.yaml", TEN_MISTAKES);
    let coloured = reading.render(Colour::Ansi);
    assert!(coloured.contains("\u{1b}["));
    assert_eq!(without_escapes(&coloured), reading.render(Colour::Plain));
}

/// Cuts out `ESC [ … m`.
fn without_escapes(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| plain + part.split_once('m').map_or("", |(_, rest)| rest))
}

#[test]
fn machines_read_the_same_problems() {
    let reading = spec::read(
        "cluster.yaml",
        b"apiVersion: seaworthy.dev/v1\nkind: Clutter\nkind: Cluster\nmetadata: {}\nspec: 1\n",
    );
    insta::assert_json_snapshot!(reading.record());
}
