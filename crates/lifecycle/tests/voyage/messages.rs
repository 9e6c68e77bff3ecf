//! What every message must be free of, whatever has gone wrong.

/// Words of libraries, not of the field.
const INTERNALS: &[&str] = &[
    "ServiceError",
    "client error",
    "os error",
    "hyper",
    "tonic",
    "reqwest",
    "rustls",
    "Some(",
    "Err(",
    "Custom {",
    "Kind::",
];

/// A packet of a probe, quoted.
const RUN_OF_X: &str = "xxxxxxxx";

/// The longest line, in characters.
const LONGEST: usize = 200;

/// Returns what is wrong with what a run has printed.
pub(crate) fn complaints(text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    for line in text.lines() {
        let mut complain = |what: &str| complaints.push(format!("{what}: {line}"));
        if let Some(word) = INTERNALS.iter().find(|word| line.contains(**word)) {
            complain(&format!("`{word}` is a library's"));
        }
        if line.contains(RUN_OF_X) {
            complain("a run of x");
        }
        // A command is pasted as it is.
        if line.chars().count() > LONGEST && !is_command(line) {
            complain("longer than 200 characters");
        }
        if let Some(words) = repeated(line) {
            complain(&format!("`{words}` twice in a line"));
        }
    }
    complaints.extend(repeated_lines(text));
    complaints
}

fn is_command(line: &str) -> bool {
    ["kubectl ", "talosctl ", "seaworthy "].iter().any(|program| line.contains(program))
}

/// Returns words that a line says twice, one after the other or as parts of a chain.
fn repeated(line: &str) -> Option<&str> {
    let parts: Vec<_> = line.split(": ").map(str::trim).collect();
    let said_before =
        |(index, part): (usize, &&str)| part.len() > 3 && parts[..index].contains(part);
    parts.iter().enumerate().find(|it| said_before((it.0, it.1))).map(|(_, part)| *part)
}

/// The block of a cause says each thing once.
fn repeated_lines(text: &str) -> Vec<String> {
    let block: Vec<_> = text
        .lines()
        .skip_while(|line| !line.starts_with("error["))
        .map(|line| line.trim_start_matches([' ', '←']).trim_start_matches("because").trim())
        .filter(|line| line.len() > 12)
        .collect();
    let again = |(index, line): &(usize, &&str)| block[..*index].contains(*line);
    let again = block.iter().enumerate().filter(again);
    again.map(|(_, line)| format!("said twice: {line}")).collect()
}

#[test]
fn complaints_find_what_they_look_for() {
    let text = "error[SW0001]: a\n  because  no answer: tcp connect error (os error 111)\n\
                  ← no answer: tcp connect error (os error 111)\n demo-cp-1: demo-cp-1: sold out\n";
    let long = format!("{text}{}\nxxxxxxxxxxxx\n", "a ".repeat(150));
    let found = complaints(&long);
    for expected in ["os error", "twice: no answer", "`demo-cp-1`", "longer", "run of x"] {
        assert!(found.iter().any(|it| it.contains(expected)), "{expected}: {found:#?}");
    }
    assert_eq!(complaints("ready  demo-cp-1: kubelet healthy"), Vec::<String>::new());
}
