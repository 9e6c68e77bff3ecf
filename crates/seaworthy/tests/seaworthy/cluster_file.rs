//! `init`, `validate`, `plan`, `schema`.

use insta::assert_snapshot;

use crate::workplace::Workplace;

const TEN_MISTAKES: &str = include_str!("../../../spec/tests/ten-mistakes.yaml");

const EXAMPLES: [(&str, &str); 2] = [
    ("hetzner.yaml", include_str!("../../../../examples/hetzner.yaml")),
    ("machines.yaml", include_str!("../../../../examples/machines.yaml")),
];

#[test]
fn init_then_validate_then_plan() {
    let workplace = Workplace::new();
    assert_snapshot!("init", workplace.run(["init"]));
    assert_snapshot!("init file", workplace.read("cluster.yaml"));
    assert_snapshot!("validate", workplace.run(["validate"]));
    assert_snapshot!("plan", workplace.run(["plan"]));
}

#[test]
fn init_never_overwrites() {
    let workplace = Workplace::new();
    workplace.write("cluster.yaml", "mine");
    assert_snapshot!(workplace.run(["init"]));
    assert_eq!(workplace.read("cluster.yaml"), "mine");
}

#[test]
fn every_cloud_can_be_begun() {
    for cloud in ["hetzner", "machines"] {
        for (control_planes, workers) in [("1", "0"), ("1", "2"), ("3", "2")] {
            let workplace = Workplace::new();
            let flags = ["--control-planes", control_planes, "--workers", workers];
            let ran = workplace.run(["init", "--cloud", cloud].into_iter().chain(flags));
            assert_eq!(ran.exit, 0, "{cloud} {control_planes}+{workers}: {ran}");
            let ran = workplace.run(["validate"]);
            assert_eq!(ran.exit, 0, "{cloud} {control_planes}+{workers}: {ran}");
            let ran = workplace.run(["plan"]);
            assert_eq!(ran.exit, 0, "{cloud} {control_planes}+{workers}: {ran}");
        }
    }
}

#[test]
fn the_commands_in_the_examples_work_as_written() {
    for (name, text) in EXAMPLES {
        let workplace = Workplace::new();
        workplace.write(name, text);
        let lines = text.lines().filter_map(|line| line.strip_prefix("#   seaworthy "));
        let commands: Vec<&str> = lines.collect();
        assert_eq!(commands.len(), 2, "{name}");
        for command in commands {
            let ran = workplace.run(command.split_whitespace());
            assert_eq!(ran.exit, 0, "{command}: {ran}");
        }
    }
}

#[test]
fn validate_reads_the_patches_that_the_file_names() {
    let workplace = Workplace::new();
    let (name, text) = EXAMPLES[0];
    let talos = "    version: v1.14.1\n";
    let text = text.replacen(talos, &format!("{talos}    patches: [{{ file: more.yaml }}]\n"), 1);
    workplace.write(name, &text);
    let ran = workplace.run(["validate", name]);
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.to_string().contains("could not read the patch more.yaml"), "{ran}");
    workplace.write("more.yaml", "machine:\n  sysctls: {a: 1, a: 2}\n");
    let ran = workplace.run(["validate", name]);
    assert_eq!(ran.exit, 2, "{ran}");
    let told = "more.yaml, line 2, `machine.sysctls.a`: the key is set twice";
    assert!(ran.to_string().contains(told), "{ran}");
    workplace.write("more.yaml", "machine:\n  sysctls: {a: 1}\n");
    assert_eq!(workplace.run(["validate", name]).exit, 0);
}

#[test]
fn validate_reads_the_manifests_that_the_file_names() {
    let workplace = Workplace::new();
    let text = include_str!("../../../spec/tests/bases/machines.yaml");
    let network = "  manifests: [{ name: network, path: net/, after: api }]\n";
    workplace.write("cluster.yaml", text.replace("  addons:\n    cilium: {}\n", network));
    let ran = workplace.run(["validate"]);
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.contains("could not use the manifests `network`: "), "{ran}");
    std::fs::create_dir(workplace.path().join("net")).unwrap();
    let broken = "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: a, name: b}\n";
    workplace.write("net/set.yaml", broken);
    let ran = workplace.run(["validate"]);
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.contains("net/set.yaml:3"), "{ran}");
    workplace.write("net/set.yaml", broken.replace(", name: b", ""));
    assert_eq!(workplace.run(["validate"]).exit, 0);
}

#[test]
fn every_command_that_reads_a_cluster_file_checks_the_files_that_it_names() {
    let workplace = Workplace::new();
    let https = "https://example.com/fleet.git\n";
    let ssh = "ssh://git@example.com/fleet\n      knownHostsFile: known_hosts\n";
    workplace.write("cluster.yaml", EXAMPLES[0].1.replace(https, ssh));
    let refused = |told: &str| {
        for command in ["validate", "plan", "rehearse"] {
            let ran = workplace.run([command, "cluster.yaml"]);
            assert_eq!(ran.exit, 2, "{ran}");
            assert!(ran.stderr.contains(told), "{ran}");
        }
        assert!(!workplace.path().join(".seaworthy/demo.rehearsal-1").exists());
    };
    refused("could not read the host keys known_hosts: No such file");
    workplace.write("known_hosts", "example.com\n");
    refused("known_hosts, line 1, is no host key");
    workplace.write("known_hosts", "example.com ssh-ed25519 AAAA\n");
    assert_eq!(workplace.run(["validate"]).exit, 0);
}

#[test]
fn up_refuses_stand_ins_outside_a_rehearsal_before_anything_is_made() {
    let workplace = Workplace::new();
    workplace.run(["init"]);
    let mut command = workplace.command(["up", "--my-ip", "198.51.100.7"]);
    let ran = workplace.ran(command.env("HCLOUD_TOKEN", "hunter22"));
    assert_snapshot!("stand-ins are refused", ran);
    assert!(!workplace.path().join(".seaworthy").exists());
    let ran = workplace.run(["up", "--world", "world.json"]);
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.contains("no world runs at world.json"), "{ran}");
}

#[test]
fn proxmox_is_refused_by_every_command_and_offered_by_none() {
    let workplace = Workplace::new();
    workplace.write("cluster.yaml", include_str!("../../../spec/tests/bases/proxmox.yaml"));
    for command in ["validate", "plan", "rehearse", "up"] {
        let ran = workplace.run([command, "cluster.yaml"]);
        assert_eq!(ran.exit, 2, "{ran}");
        assert!(ran.stderr.contains("error: Proxmox is not supported yet"), "{ran}");
    }
    let ran = workplace.run(["init", "new.yaml", "--cloud", "proxmox"]);
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(!workplace.run(["init", "--help"]).stdout.to_lowercase().contains("proxmox"));
}

#[test]
fn a_wrong_answer_writes_nothing() {
    let workplace = Workplace::new();
    assert_snapshot!("wrong answer", workplace.run(["init", "--name", "Demo_1"]));
    assert_snapshot!(
        "answer for another cloud",
        workplace.run(["init", "--cloud", "hetzner", "--gateway", "10.0.0.1"])
    );
    assert!(!workplace.path().join("cluster.yaml").exists());
}

#[test]
fn answers_that_do_not_fit_write_nothing() {
    let workplace = Workplace::new();
    let flags = ["--cloud", "machines", "--gateway", "10.1.1.1"];
    assert_snapshot!(workplace.run(["init", "mine.yaml"].into_iter().chain(flags)));
    assert!(!workplace.path().join("mine.yaml").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_path_need_not_be_utf8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let workplace = Workplace::new();
    let name = OsStr::from_bytes(b"caf\xE9.yaml");
    let run = |command: &str| {
        let args = [OsStr::new(command), name, OsStr::new("-o"), OsStr::new("json")];
        let ran = workplace.run(args);
        assert_eq!(ran.exit, 0, "{command}: {ran}");
        serde_json::from_str::<serde_json::Value>(&ran.stdout).unwrap()
    };
    assert_eq!(run("init")["file"], "caf\u{FFFD}.yaml");
    run("validate");
    run("plan");
}

#[test]
fn ten_mistakes_get_ten_messages() {
    let workplace = Workplace::new();
    workplace.write("cluster.yaml", TEN_MISTAKES);
    let ran = workplace.run(["validate"]);
    assert_eq!(ran.exit, 2);
    assert_eq!(ran.stderr.matches("error: ").count(), 11, "ten and the closing line: {ran}");
    assert_snapshot!(ran);
    let ran = workplace.run(["validate", "-o", "json"]);
    assert_eq!((ran.exit, ran.stderr.as_str()), (2, ""));
    let record: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&record["valid"], &record["errors"]), (&false.into(), &10.into()));
    assert_eq!(workplace.run(["plan"]).exit, 2, "a wrong file is not planned");
}

#[test]
fn a_missing_file_says_how_to_get_one() {
    assert_snapshot!(Workplace::new().run(["validate"]));
}

#[test]
fn a_folder_is_no_cluster_file() {
    let workplace = Workplace::new();
    std::fs::create_dir(workplace.path().join("cluster.yaml")).unwrap();
    assert_snapshot!(workplace.run(["validate"]));
}

#[test]
fn deadlines_come_from_the_file_and_from_flags() {
    let workplace = Workplace::new();
    workplace.run(["init"]);
    let file = workplace.read("cluster.yaml") + "  timeouts: { api: 15m }\n";
    workplace.write("cluster.yaml", file);
    let plan = workplace.run(["plan", "--timeout", "etcd=20m"]);
    assert!(plan.stdout.contains("api                      15m"), "{plan}");
    assert!(plan.stdout.contains("etcd                     20m"), "{plan}");
    assert_snapshot!(workplace.run(["plan", "--timeout", "ectd=20m"]));
    assert_snapshot!("a proof that is too short", workplace.run(["plan", "--timeout", "proof=1m"]));
}

#[test]
fn a_plan_is_data() {
    let workplace = Workplace::new();
    workplace.run(["init"]);
    let ran = workplace.run(["plan", "-o", "json"]);
    let plan: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(plan["cluster"]["nodes"].as_array().unwrap().len(), 5);
    assert_eq!(plan["stages"].as_array().unwrap().len(), 16);
    assert!(plan["cluster"].get("id").is_none(), "no run has made an identity yet");
    assert!(plan["stages"][0]["checks"][0]["deadlineMs"].is_u64(), "{ran}");
    assert!(!ran.stdout.contains('_'), "one spelling of keys: {ran}");
}

#[test]
fn a_plan_of_machines_shows_what_each_is_for() {
    let workplace = Workplace::new();
    workplace.write("cluster.yaml", EXAMPLES[1].1);
    let ran = workplace.run(["plan"]);
    let machines: Vec<&str> =
        ran.stdout.lines().filter(|line| line.starts_with("  machine ")).collect();
    assert_snapshot!("machines of a plan", machines.join("\n"));
}

#[test]
fn the_schema_is_one() {
    let ran = Workplace::new().run(["schema"]);
    let schema: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
}
