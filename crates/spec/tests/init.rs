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
    assert_eq!(written, 3 * 3 * 4 * 3);
}

#[test]
fn every_default_answers_its_question() {
    for cloud in every_cloud() {
        for question in questions(cloud) {
            match question.default() {
                Some(default) => assert_eq!(question.check(&default), Ok(()), "{}", question.key),
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

#[test]
fn answers_that_contradict_each_other_are_shown_in_the_file() {
    let mut answers = Answers::new(CloudKind::Proxmox);
    answers.answer("talos", "v1.12.0").expect("an answer");
    answers.answer("gateway", "192.168.1.1").expect("an answer");
    let Err(InitError::Contradiction(reading)) = cluster_file(&answers) else {
        panic!("a contradiction");
    };
    let rendered = reading.render(Colour::Plain);
    assert!(rendered.contains("Talos v1.12.0 does not run Kubernetes v1.36.3"), "{rendered}");
    assert!(rendered.contains("the gateway `192.168.1.1` is not in the network"), "{rendered}");
}

#[test]
fn an_unasked_question_cannot_be_answered() {
    let answer = Answers::new(CloudKind::Machines).answer("location", "fsn1");
    assert_eq!(
        answer,
        Err(InvalidAnswer::NotAsked { key: "location".to_owned(), cloud: "machines" })
    );
}
