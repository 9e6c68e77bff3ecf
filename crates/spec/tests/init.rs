//! New files: always good, whatever was answered.

use spec::init::{Answers, InitError, InvalidAnswer, clouds, cluster_file, questions};
use spec::{CloudKind, Colour};

fn every_cloud() -> impl Iterator<Item = CloudKind> {
    clouds().iter().map(|name| CloudKind::parse(name).expect("a cloud"))
}

#[test]
fn every_shape_on_every_cloud_is_good() {
    let mut written = 0;
    for cloud in every_cloud() {
        for control_planes in ["1", "3", "5"] {
            for workers in ["0", "1", "2", "9"] {
                for flux in ["", "ssh://git@example.com/fleet", "https://example.com/fleet.git"] {
                    let mut answers = Answers::new(cloud);
                    answers.answer("control-planes", control_planes).expect("an answer");
                    answers.answer("workers", workers).expect("an answer");
                    answers.answer("flux", flux).expect("an answer");
                    let text = cluster_file(&answers).expect("a good file");
                    let reading = spec::read("cluster.yaml", text.as_bytes());
                    let cluster = reading.cluster().expect("a good file");
                    assert_eq!(cluster.control_plane_count().to_string(), control_planes);
                    assert_eq!(
                        (cluster.node_count() - cluster.control_plane_count()).to_string(),
                        workers
                    );
                    written += 1;
                }
            }
        }
    }
    assert_eq!(written, 2 * 3 * 4 * 3);
}

#[test]
fn every_default_answers_its_question() {
    for cloud in every_cloud() {
        for question in questions(cloud) {
            let answers = Answers::new(cloud);
            match question.default(&answers) {
                Some(default) => {
                    assert_eq!(question.check(&default, &answers), Ok(()), "{}", question.key);
                }
                None => assert!(question.optional, "{}", question.key),
            }
        }
    }
}

#[test]
fn the_files_are_readable() {
    for cloud in every_cloud() {
        let text = cluster_file(&Answers::new(cloud)).expect("a good file");
        insta::with_settings!({ omit_expression => true }, {
            insta::assert_snapshot!(cloud.as_str(), text);
        });
    }
}

#[test]
fn odd_but_valid_answers_are_quoted() {
    let mut answers = Answers::new(CloudKind::Hetzner);
    answers.answer("allow", "fd00::/8").expect("an answer");
    answers.answer("flux", "https://example.com/a#b:").expect("an answer");
    let text = cluster_file(&answers).expect("a good file");
    assert!(text.contains(r#"talosAPI: ["fd00::/8"]"#), "{text}");
    assert!(text.contains(r#"repository: "https://example.com/a#b:""#), "{text}");
}

#[test]
fn wrong_answers_say_what_was_expected() {
    let mut answers = Answers::new(CloudKind::Hetzner);
    let mut refused = |key, answer| answers.answer(key, answer).expect_err("refused").to_string();
    insta::assert_snapshot!(
        [
            refused("name", "My Cluster"),
            refused("control-planes", "2"),
            refused("workers", "many"),
            refused("location", "mars"),
            refused("type", "m5.large"),
            refused("allow", "198.51.100.7"),
            refused("flux", "git@example.com:fleet"),
            refused("talos", "latest"),
            refused("install-disk", "/dev/sda"),
        ]
        .join("\n"),
        @r"
    `My Cluster` is no answer to `name`: `M` cannot stand here: lower-case letters, digits and `-` can; `my-cluster` would do
    `2` is no answer to `control-planes`: expected `1`, `3` or `5`
    `many` is no answer to `workers`: expected a whole number from 0 to 90
    `mars` is no answer to `location`: expected `fsn1`, `nbg1`, `hel1`, `ash`, `hil` or `sin`
    `m5.large` is no answer to `type`: expected a server type, such as `cax11` or `cx33`
    `198.51.100.7` is no answer to `allow`: a prefix is missing; one address alone is `198.51.100.7/32`
    `git@example.com:fleet` is no answer to `flux`: write it as `ssh://git@example.com/fleet`
    `latest` is no answer to `talos`: name a version: what `latest` means changes under a cluster
    `install-disk` is not asked for hetzner
    "
    );
}

fn answers(cloud: CloudKind, given: &[(&str, &str)]) -> Answers {
    let mut answers = Answers::new(cloud);
    for (key, answer) in given {
        answers.answer(key, answer).unwrap_or_else(|error| panic!("{error}"));
    }
    answers
}

#[test]
fn addresses_follow_the_network() {
    for (network, gateway, vip, first) in [
        ("192.168.7.0/24", "192.168.7.1", "192.168.7.10", "192.168.7.11"),
        ("172.16.0.0/12", "172.16.0.1", "172.16.0.10", "172.16.0.11"),
        ("10.9.8.64/27", "10.9.8.65", "10.9.8.74", "10.9.8.75"),
        ("10.9.8.16/28", "10.9.8.17", "10.9.8.18", "10.9.8.19"),
        ("10.9.8.8/29", "10.9.8.9", "10.9.8.10", "10.9.8.11"),
    ] {
        for cloud in [CloudKind::Proxmox, CloudKind::Machines] {
            let workers = if network.ends_with("/29") { "1" } else { "2" };
            let given = [("workers", workers), ("network", network)];
            let answers = answers(cloud, &given);
            let get = |key| answers.get(key).unwrap_or_default();
            assert_eq!((get("gateway"), get("vip")), (gateway.to_owned(), vip.to_owned()));
            assert_eq!(get("first-address"), first);
            if cloud == CloudKind::Machines {
                let text = cluster_file(&answers);
                assert!(text.is_ok(), "{network}: {text:?}");
            }
        }
    }
}

#[test]
fn a_network_without_room_is_refused() {
    for cloud in [CloudKind::Proxmox, CloudKind::Machines] {
        let mut answers = Answers::new(cloud);
        let error = answers.answer("network", "10.9.8.8/29").expect_err("refused");
        assert_eq!(
            error.to_string(),
            "`10.9.8.8/29` is no answer to `network`: it is too small: nodes, gateway and VIP need 7 addresses"
        );
        answers.answer("workers", "1").expect("an answer");
        answers.answer("network", "10.9.8.8/29").expect("room for four nodes");
    }
}

#[test]
fn every_network_with_room_makes_a_good_file() {
    let (mut good, mut small) = (0, 0);
    for prefix in 12..=32 {
        for (control_planes, workers) in [("1", "0"), ("3", "2"), ("5", "9"), ("5", "90")] {
            let mut answers = Answers::new(CloudKind::Machines);
            answers.answer("control-planes", control_planes).expect("an answer");
            answers.answer("workers", workers).expect("an answer");
            if answers.answer("network", &format!("172.16.0.0/{prefix}")).is_err() {
                small += 1;
                continue;
            }
            let file = cluster_file(&answers);
            assert!(file.is_ok(), "/{prefix} {control_planes}+{workers}: {file:?}");
            good += 1;
        }
    }
    assert!(good > 50 && small > 10, "{good} good, {small} too small");
}

#[test]
fn proxmox_is_not_offered_and_gets_no_file() {
    assert_eq!(clouds(), ["hetzner", "machines"]);
    let given = [("network", "10.0.0.0/16"), ("first-address", "10.0.200.11")];
    let (_, _, rendered) = refusal(CloudKind::Proxmox, &given);
    assert!(rendered.contains("Proxmox is not supported yet"), "{rendered}");
}

#[test]
fn versions_are_held_to_the_matrix_when_they_are_answered() {
    let mut answers = Answers::new(CloudKind::Hetzner);
    let mut refused = |key, answer| answers.answer(key, answer).expect_err("refused").to_string();
    assert_eq!(
        refused("talos", "v1.7.0"),
        "`v1.7.0` is no answer to `talos`: it is too old: v1.8 to v1.14 are supported"
    );
    assert_eq!(
        refused("kubernetes", "v1.31.0"),
        "`v1.31.0` is no answer to `kubernetes`: Talos v1.14.1 runs v1.32 to v1.37"
    );
    answers.answer("talos", "v1.12.4").expect("an answer");
    assert_eq!(answers.get("kubernetes").as_deref(), Some("v1.35.0"), "the newest it runs");
    assert!(answers.answer("kubernetes", "v1.36.3").is_err());
}

#[test]
fn types_and_fallbacks_exist_where_the_cluster_is() {
    for (location, types, fallback) in [
        ("fsn1", ["cax11", "cax21"], "[{ location: nbg1 }]"),
        ("nbg1", ["cax11", "cax21"], "[{ location: fsn1 }]"),
        ("ash", ["cpx21", "cpx31"], "[{ type: ccx13 }]"),
        ("hil", ["cpx21", "cpx31"], "[{ type: ccx13 }]"),
        ("sin", ["cpx22", "cpx32"], "[{ type: ccx13 }]"),
    ] {
        let answers = answers(CloudKind::Hetzner, &[("location", location)]);
        let text = cluster_file(&answers).expect("a good file");
        for server_type in types {
            assert!(text.contains(&format!("type: {server_type}\n")), "{location}: {text}");
        }
        assert!(text.contains(&format!("# fallbacks: {fallback} ")), "{location}: {text}");
        // Whoever takes the comment up gets a good file too.
        let taken_up = text.replace("# fallbacks", "fallbacks");
        assert!(spec::read("cluster.yaml", taken_up.as_bytes()).cluster().is_some(), "{location}");
    }
}

/// The questions that are to be asked again, the sentence about them, and what is shown.
fn refusal(cloud: CloudKind, given: &[(&str, &str)]) -> (Vec<&'static str>, String, String) {
    match cluster_file(&answers(cloud, given)) {
        Err(InitError::Refused(refusal)) => {
            let rendered = refusal.render("mine.yaml", Colour::Plain);
            (refusal.questions().to_vec(), refusal.to_string(), rendered)
        }
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn answers_that_do_not_fit_together_are_shown_in_the_file() {
    let given = [("kubernetes", "v1.36.3"), ("talos", "v1.12.0"), ("gateway", "192.168.1.1")];
    let (questions, sentence, rendered) = refusal(CloudKind::Machines, &given);
    assert_eq!(questions, ["talos", "kubernetes", "network", "gateway"]);
    assert_eq!(
        sentence,
        "the answers to `talos`, `kubernetes`, `network` and `gateway` do not fit together"
    );
    assert!(rendered.contains("Talos v1.12.0 does not run Kubernetes v1.36.3"), "{rendered}");
    assert!(rendered.contains("the gateway `192.168.1.1` is not in the network"), "{rendered}");
    assert!(rendered.contains("--> mine.yaml:"), "{rendered}");
    assert!(!rendered.contains("could not read"), "nothing was read: {rendered}");
}

#[test]
fn one_bad_answer_is_not_called_a_contradiction() {
    let (questions, sentence, _) = refusal(CloudKind::Machines, &[("network", "10.244.0.0/24")]);
    assert_eq!(questions, ["network"]);
    assert_eq!(sentence, "the answer to `network` cannot be used");
}

#[test]
fn counted_addresses_lead_to_the_first() {
    let given = [("first-address", "192.168.10.252")];
    let (questions, ..) = refusal(CloudKind::Machines, &given);
    assert_eq!(questions, ["network", "first-address"]);
}

#[test]
fn an_unasked_question_cannot_be_answered() {
    let answer = Answers::new(CloudKind::Machines).answer("location", "fsn1");
    assert_eq!(
        answer,
        Err(InvalidAnswer::NotAsked { key: "location".to_owned(), cloud: "machines" })
    );
}
