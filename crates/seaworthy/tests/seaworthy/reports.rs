//! Every report, from journals that the real engine wrote.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};

use engine::laws::{Harbour, Weather, keep_all};
use engine::{
    Backoff, Cancel, Chance, Check, Engine, Opening, Pace, Scope, Session, Stage, StateFolder,
    Until, planned,
};
use events::journal::{self, Durability};
use events::{Clock, EvidenceLimits, EvidenceStore, Plan, Reach, RunId};
use insta::assert_snapshot;
use report::Story;
use report::terminal::{Palette, Plain, Printer as _};

use crate::harbour_runs::{failed, plan, proven, run};
use crate::workplace::Workplace;

const FILES: [&str; 9] = [
    "REPORT.html",
    "REPORT.md",
    "annotations.txt",
    "junit.xml",
    "pr-comment.md",
    "report.json",
    "step-summary.md",
    "timeline.txt",
    "trace.json",
];

#[test]
fn a_proven_run_is_told() {
    let workplace = Workplace::new();
    proven(&workplace.path().join(".seaworthy"));
    let ran = workplace.run(["report"]);
    assert_eq!(ran.exit, 0, "{ran}");
    assert_eq!(ran.stdout.lines().count(), FILES.len());
    for path in ran.stdout.lines() {
        let bytes = fs::read(workplace.path().join(path)).unwrap();
        assert!(!bytes.is_empty() || path.ends_with("annotations.txt"), "{path} is empty");
    }
    assert_snapshot!(without_times(&ran.stderr));
}

#[test]
fn a_failed_run_is_told_with_its_cause() {
    let workplace = Workplace::new();
    failed(&workplace.path().join(".seaworthy"));
    let ran = workplace.run(["report"]);
    assert_eq!(ran.exit, 0, "telling a failure is a success: {ran}");
    assert_snapshot!(without_times(&ran.stderr));
}

#[test]
fn the_same_journal_gives_the_same_bytes() {
    let workplace = Workplace::new();
    let run = proven(&workplace.path().join(".seaworthy")).to_string();
    for out in ["one", "two"] {
        assert_eq!(workplace.run(["report", &run, "--out", out]).exit, 0);
    }
    for file in FILES {
        let [one, two] = ["one", "two"].map(|out| fs::read(workplace.path().join(out).join(file)));
        assert_eq!(one.unwrap(), two.unwrap(), "{file}");
    }
}

#[test]
fn a_run_is_found_by_its_beginning_and_by_its_path() {
    let workplace = Workplace::new();
    let state = workplace.path().join(".seaworthy");
    let harbour = Harbour::calm(plan());
    let first = run(&state, &harbour, Weather::crash_after_record(40)).to_string();
    let second = run(&state, &harbour, Weather::FAIR).to_string();
    assert!(first < second);
    for wanted in [first.as_str(), &first.to_lowercase(), &format!(".seaworthy/demo/runs/{first}")]
    {
        let ran = workplace.run(["report", "verify", wanted, "-o", "json"]);
        assert!(ran.stdout.contains(&first), "{wanted}: {ran}");
    }
    assert_snapshot!("ambiguous", redacted(&workplace.run(["report", &first[..4]]).stderr, &first));
    assert_snapshot!("unknown", workplace.run(["report", "7ZZZ"]));
    assert_snapshot!("none", Workplace::new().run(["report"]));
}

#[test]
fn verify_finds_what_was_changed() {
    let workplace = Workplace::new();
    let run = proven(&workplace.path().join(".seaworthy"));
    let journal = workplace.path().join(format!(".seaworthy/demo/runs/{run}/journal.jsonl"));
    let ran = workplace.run(["report", "verify"]);
    assert_eq!(ran.exit, 0, "{ran}");
    let head = journal::verify(&journal).unwrap().head;
    assert_eq!(ran.stdout, format!("{head}\n"));
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.replacen("the tide is low", "the tide is high", 1)).unwrap();
    let ran = workplace.run(["report", "verify"]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (3, ""));
    let line = text.lines().position(|line| line.contains("the tide is low")).unwrap() + 2;
    assert!(ran.stderr.contains(&format!("line {line} of the journal")), "{ran}");
    assert_eq!(workplace.run(["report"]).exit, 3, "no report is made of it");
}

#[test]
fn verify_tells_what_only_the_head_can_tell() {
    let workplace = Workplace::new();
    let run = proven(&workplace.path().join(".seaworthy"));
    let folder = workplace.path().join(format!(".seaworthy/demo/runs/{run}"));
    let head = workplace.run(["report", "verify"]).stdout.trim().to_owned();
    assert_eq!(workplace.run(["report", "verify", "--head", &head]).exit, 0);

    let journal = folder.join("journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let cut: String = text.split_inclusive('\n').take(40).collect();
    fs::write(&journal, cut).unwrap();
    let ran = workplace.run(["report", "verify"]);
    assert_eq!(ran.exit, 0, "a run that died looks the same: {ran}");
    assert!(ran.stderr.contains("the run has no end"), "{ran}");
    let ran = workplace.run(["report", "verify", "--head", &head]);
    assert_eq!(ran.exit, 3, "{ran}");
    assert!(ran.stderr.contains(&format!("not {head}")), "{ran}");
    fs::write(&journal, text).unwrap();

    let other = workplace.path().join(".seaworthy/demo/runs/01MC0000000000000000000000");
    fs::rename(&folder, other).unwrap();
    let ran = workplace.run(["report", "verify"]);
    assert_eq!(ran.exit, 3, "{ran}");
    assert!(ran.stderr.contains("holds the journal of run"), "{ran}");
}

#[test]
fn verify_checks_the_evidence_of_a_failure_too() {
    let workplace = Workplace::new();
    let root = workplace.path().join(".seaworthy/demo");
    let chance = Chance::seeded(1);
    let state = StateFolder::open(&root, &chance).unwrap();
    let opening = Opening {
        pid: 1,
        host: "test".to_owned(),
        command: "up".to_owned(),
        durability: Durability::Unsynced,
        observers: vec![],
    };
    let run = clerk_run(&state, opening, &chance);
    assert_eq!(workplace.run(["report", "verify"]).exit, 0);
    for file in fs::read_dir(state.run(run).join("evidence")).unwrap() {
        let path = file.unwrap().path();
        if fs::read_to_string(&path).unwrap().contains("the last words") {
            fs::write(&path, "nothing to see here").unwrap();
        }
    }
    let ran = workplace.run(["report", "verify"]);
    assert_eq!(ran.exit, 3, "{ran}");
    assert!(ran.stderr.contains("the evidence `etcd.log` cannot be trusted"), "{ran}");
}

/// Watches a run live, then replays its journal: the lines and every file are
/// the same, byte for byte.
#[test]
fn live_and_replayed_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let chance = Chance::seeded(1);
    let state = StateFolder::open(folder.path(), &chance).unwrap();
    let live = Arc::new(Mutex::new((Story::default(), Plain::new(Palette::Colour), Vec::new())));
    let observer = {
        let live = Arc::clone(&live);
        Box::new(move |event: &events::Event| {
            let (story, printer, out) = &mut *live.lock().unwrap();
            story.apply(event);
            printer.event(story, event, out).unwrap();
        })
    };
    let opening = Opening {
        pid: 1,
        host: "test".to_owned(),
        command: "up".to_owned(),
        durability: Durability::Unsynced,
        observers: vec![observer],
    };
    let run = clerk_run(&state, opening, &chance);

    let journal = journal::read(&state.journal(run)).unwrap();
    let (mut story, mut printer, mut out) =
        (Story::default(), Plain::new(Palette::Colour), Vec::new());
    for event in &journal.events {
        story.apply(event);
        printer.event(&story, event, &mut out).unwrap();
    }
    let (live_story, _, live_out) = &*live.lock().unwrap();
    assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(live_out));
    let evidence = EvidenceStore::new(&state.run(run), EvidenceLimits::default());
    let replayed = report::render_all(&story, &evidence);
    assert_eq!(replayed, report::render_all(live_story, &evidence));
    let html = &replayed.iter().find(|(name, _)| *name == "REPORT.html").unwrap().1;
    assert!(html.contains("the minutes of the unit network"), "attached evidence is in the page");
    assert!(html.contains("the last words of etcd"), "also of what failed");
    let json = &replayed.iter().find(|(name, _)| *name == "report.json").unwrap().1;
    let report: serde_json::Value = serde_json::from_str(json).unwrap();
    assert_eq!(report["hidden"]["token"], 2, "in the warning and in the log: {report:#}");
    for (name, text) in &replayed {
        assert!(!text.contains(attaching::TOKEN), "the token is in {name}");
    }
}

/// A run in which every gate attaches evidence and `etcd` fails.
fn clerk_run(state: &StateFolder, opening: Opening, chance: &Chance) -> RunId {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.unwrap().block_on(async {
        let clock = Clock::starting_at("2026-11-15T12:00:00Z".parse().unwrap());
        let session = Session::open(state, opening, clock, chance).unwrap();
        let (run, chance) = (session.run, chance.clone());
        let token = events::Secret::new(attaching::TOKEN);
        session.ledger.recorder().hide("token", &token).unwrap();
        let engine = Engine { session, chance, cancel: Cancel::new(), backoff: Backoff::default() };
        engine.run(plan(), &Until::TheEnd, Arc::new(attaching::Clerk)).await.unwrap();
        run
    })
}

/// Work that attaches a file of evidence to every gate.
mod attaching {
    use engine::{ActError, Eyes, Hands, Work};
    use events::{Cause, CheckName, Code, Digest, Evidence, Failure, Unit, Verdict};

    pub(super) const TOKEN: &str = "correct-horse-battery-staple";

    pub(super) struct Clerk;

    impl Work for Clerk {
        async fn act(&self, unit: &Unit, hands: &Hands) -> Result<(), ActError> {
            if unit.stage.as_str() == "preflight" {
                hands.warn(format!("the token {TOKEN} will expire"))?;
            }
            Ok(())
        }

        async fn look(&self, unit: &Unit, _: &CheckName, eyes: &Eyes) -> Verdict {
            if unit.stage.as_str() == "etcd" {
                let log = format!("Bearer {TOKEN}: the last words of etcd").into_bytes();
                let file = eyes.attach("etcd.log", log).await.unwrap();
                let seen = Evidence::new("the log ends here").file(file);
                return Verdict::failed(Cause::new(Code(901), "etcd is gone").seen(seen));
            }
            let text = format!("the minutes of the unit {unit}");
            let file = eyes.attach("minutes.txt", text.into_bytes()).await.unwrap();
            Verdict::ready(Evidence::new("minuted").file(file))
        }

        async fn probe(&self, unit: &Unit, _: &CheckName, _: &Hands) -> Result<Verdict, ActError> {
            Ok(Verdict::ready(Evidence::new(format!("{unit} probed"))))
        }

        async fn inputs(&self, _: &Unit, _: &CheckName, _: &Eyes) -> Result<Digest, Failure> {
            Ok(Digest::ZERO)
        }
    }
}

const SHORT: &[Stage] = &[
    Stage {
        name: "nodes",
        after: &[],
        scope: Scope::EachNode,
        checks: &[Check::gate("nodes", std::time::Duration::from_mins(10))],
    },
    Stage {
        name: "etcd",
        after: &[("nodes", Reach::ControlPlanes)],
        scope: Scope::Cluster,
        checks: &[
            Check::gate("etcd", std::time::Duration::from_mins(10)),
            Check::probe("etcd-probe", std::time::Duration::from_mins(10)),
        ],
    },
];

/// Crashed, stopped, failed and resumed runs: whatever the engine can leave
/// behind, every report can tell.
#[test]
fn every_journal_of_the_laws_renders_to_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let whole = plan();
    let stages = planned(SHORT, &whole.nodes, &Pace::default()).unwrap();
    let short = Plan { stages, ..whole };
    keep_all(|| Harbour::calm(short.clone()), folder.path()).unwrap();
    let mut rendered = 0;
    for state in fs::read_dir(folder.path()).unwrap() {
        for run in fs::read_dir(state.unwrap().path().join("runs")).unwrap() {
            render(&run.unwrap().path());
            rendered += 1;
        }
    }
    writeln!(std::io::stdout(), "rendered {rendered} journals to {} formats", FILES.len()).unwrap();
    assert!(rendered > 200, "{rendered}");
}

fn render(run: &Path) {
    let journal = journal::read(&run.join("journal.jsonl")).unwrap();
    let mut story = Story::default();
    journal.events.iter().for_each(|event| story.apply(event));
    let evidence = EvidenceStore::new(run, EvidenceLimits::default());
    let reports = report::render_all(&story, &evidence);
    let names: Vec<_> = reports.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, FILES);
    for (name, text) in &reports {
        match *name {
            "report.json" | "trace.json" => {
                serde_json::from_str::<serde_json::Value>(text).unwrap();
            }
            "REPORT.html" => assert!(text.len() < 5 * 1024 * 1024),
            _ => {}
        }
    }
}

/// How long units take in the small world depends on jitter, and who draws
/// which on threads: times and digests become marks of the same width.
fn without_times(text: &str) -> String {
    let is_digest = |word: &str| word.len() == 64;
    let is_time =
        |word: &str| word.ends_with('s') && word.starts_with(|c: char| c.is_ascii_digit());
    let mark = |word: &str| match word.trim_end_matches([':', ',']) {
        time if is_time(time) || is_digest(time) => word.replace(time, &"~".repeat(time.len())),
        _ => word.to_owned(),
    };
    let line = |line: &str| line.split(' ').map(mark).collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn redacted(text: &str, run: &str) -> String {
    text.replace(run, "$RUN")
}
