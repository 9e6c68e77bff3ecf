//! Waits, deadlines, tries, skips and stops, on a discrete clock.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use engine::{
    ActError, AfterFailure, Backoff, Cancel, Chance, Check, Engine, Ensured, Eyes, Finished, Hands,
    Opening, Pace, Scope, SendError, Session, Sight, Skip, Stage, StateFolder, Until, Work, codes,
    planned,
};
use events::journal::Durability;
use events::{
    Because, Call, CallClass, CallOutcome, Cause, CheckName, Class, Clock, ClusterId, Code, Digest,
    Event, Evidence, Failure, Heals, Hindrance, Made, NextStep, Plan, PlannedNode, Reach, Role,
    RunOutcome, Unit, UnitOutcome, Verdict, What,
};

const MINUTE: Duration = Duration::from_mins(1);

/// Work that is played from a script.
#[derive(Default)]
struct Script {
    /// What the n-th act of a unit answers; good where nothing is said.
    acts: Mutex<BTreeMap<String, Vec<ActError>>>,
    /// What the looks of a gate answer, the last one for ever; ready where nothing is said.
    looks: Mutex<BTreeMap<String, Vec<Verdict>>>,
    /// How long the act of a unit takes.
    takes: BTreeMap<String, Duration>,
    skips: BTreeMap<String, Skip>,
    after_failure: AfterFailure,
}

impl Work for Script {
    async fn act(&self, unit: &Unit, hands: &Hands) -> Result<(), ActError> {
        if let Some(time) = self.takes.get(&unit.to_string()) {
            hands.eyes().clock().sleep(*time).await;
        }
        let mut acts = self.acts.lock().unwrap();
        match acts.get_mut(&unit.to_string()) {
            Some(errors) if !errors.is_empty() => Err(errors.remove(0)),
            _ => Ok(()),
        }
    }

    async fn look(&self, unit: &Unit, _: &CheckName, _: &Eyes) -> Verdict {
        let next = {
            let mut looks = self.looks.lock().unwrap();
            match looks.get_mut(&unit.to_string()) {
                None => Some(Verdict::ready(Evidence::new("fine"))),
                Some(verdicts) if verdicts.is_empty() => None,
                Some(verdicts) if verdicts.len() == 1 => Some(verdicts[0].clone()),
                Some(verdicts) => Some(verdicts.remove(0)),
            }
        };
        match next {
            Some(verdict) => verdict,
            None => std::future::pending().await,
        }
    }

    async fn probe(&self, _: &Unit, _: &CheckName, _: &Hands) -> Result<Verdict, ActError> {
        Ok(Verdict::ready(Evidence::new("probed")))
    }

    async fn inputs(&self, _: &Unit, _: &CheckName, _: &Eyes) -> Result<Digest, Failure> {
        Ok(Digest::ZERO)
    }

    fn next_steps(&self, _: &Unit, cause: &Cause) -> Vec<NextStep> {
        if !cause.next.is_empty() {
            return cause.next.clone();
        }
        let command = format!("look at {}", cause.code);
        vec![NextStep { command, tells: "shows it".to_owned() }]
    }

    fn skip(&self, unit: &Unit, check: Option<&CheckName>) -> Option<Skip> {
        let key = check.map_or(unit.to_string(), |check| format!("{unit}/{check}"));
        self.skips.get(&key).cloned()
    }

    fn after_failure(&self) -> AfterFailure {
        self.after_failure
    }
}

/// What a run left behind.
struct Log {
    outcome: RunOutcome,
    is_done: bool,
    events: Vec<Event>,
}

impl Log {
    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.events.last().unwrap().elapsed_ms)
    }

    fn cause(&self) -> Cause {
        match &self.outcome {
            RunOutcome::Failed { cause, .. } => cause.clone(),
            other => panic!("{other:?}"),
        }
    }

    fn verdicts(&self) -> Vec<String> {
        let text = |event: &Event| match &event.what {
            What::Checked { verdict, .. } => Some(verdict.to_string()),
            _ => None,
        };
        self.events.iter().filter_map(text).collect()
    }

    /// When a unit started and ended, in seconds.
    fn span(&self, unit: &Unit) -> (u64, u64) {
        let at = |wanted: fn(&What) -> bool| {
            let found = self.events.iter().find(|e| e.what.unit() == Some(unit) && wanted(&e.what));
            found.unwrap().elapsed_ms / 1000
        };
        (
            at(|what| matches!(what, What::StageStarted { .. })),
            at(|what| matches!(what, What::StageDone { .. })),
        )
    }
}

async fn run_until<W: Work>(table: &[Stage], work: W, until: Until, cancel: Cancel) -> Log {
    let folder = tempfile::tempdir().unwrap();
    let chance = Chance::seeded(1);
    let state = StateFolder::open(folder.path(), &chance).unwrap();
    let clock = Clock::starting_at("2026-11-15T12:00:00Z".parse().unwrap());
    let session = Session::open(&state, opening(), clock, &chance).unwrap();
    let path = state.journal(session.run);
    let engine = Engine { session, chance, cancel, backoff: Backoff::default() };
    let finished: Finished = engine.run(plan(table), &until, Arc::new(work)).await.unwrap();
    let journal = events::journal::read(&path).unwrap();
    assert_eq!(finished.head, Some(journal.chain.head));
    Log { outcome: finished.outcome, is_done: finished.is_done, events: journal.events }
}

fn opening() -> Opening {
    Opening {
        pid: 1,
        host: "test".to_owned(),
        command: "up".to_owned(),
        durability: Durability::Synced,
        observers: vec![],
    }
}

async fn run<W: Work>(table: &[Stage], work: W) -> Log {
    run_until(table, work, Until::TheEnd, Cancel::new()).await
}

fn plan(table: &[Stage]) -> Plan {
    let node = |name: &str, role| PlannedNode { name: name.into(), role };
    let nodes = vec![
        node("cp-1", Role::ControlPlane),
        node("worker-1", Role::Worker),
        node("worker-2", Role::Worker),
    ];
    Plan {
        command: "up".to_owned(),
        cluster: "demo".to_owned(),
        cluster_id: ClusterId::new(0),
        title: String::new(),
        tool: "test".to_owned(),
        stages: planned(table, &nodes, &Pace::default()).unwrap(),
        nodes,
        spec: None,
        monthly_cents: None,
        simulated_speed: None,
        rerun: None,
        stand_ins: Vec::new(),
    }
}

const ONE: &[Stage] = &[Stage {
    name: "etcd",
    after: &[],
    scope: Scope::Cluster,
    checks: &[Check::gate("etcd", MINUTE)],
}];

fn looks(verdicts: Vec<Verdict>) -> Script {
    Script { looks: Mutex::new([("etcd".to_owned(), verdicts)].into()), ..Script::default() }
}

fn acts(errors: Vec<ActError>) -> Script {
    Script { acts: Mutex::new([("etcd".to_owned(), errors)].into()), ..Script::default() }
}

fn ready() -> Verdict {
    Verdict::ready(Evidence::new("3 members, leader cp-1"))
}

#[tokio::test(start_paused = true)]
async fn the_journal_holds_changes_of_a_because_and_not_polls() {
    let waiting = || Verdict::not_yet("1 of 3 members");
    let log = run(ONE, looks(vec![waiting(), waiting(), waiting(), ready()])).await;
    assert_eq!(log.verdicts(), ["1 of 3 members", "3 members, leader cp-1"]);
    assert!(log.elapsed() >= Duration::from_secs(6), "three pauses of two seconds");
}

#[tokio::test(start_paused = true)]
async fn a_deadline_ends_with_the_last_because_and_its_chain() {
    let because = Because::new("2 of 3 members").caused_by("cp-3: port 2380 refused");
    let log = run(ONE, looks(vec![Verdict::not_yet(because)])).await;
    let cause = log.cause();
    assert_eq!(cause.code, codes::NOT_READY_IN_TIME);
    assert_eq!(cause.message, "2 of 3 members");
    assert_eq!(cause.because, ["cp-3: port 2380 refused"]);
    let shown = cause.shown_by.unwrap();
    assert_eq!(shown.check.as_str(), "etcd");
    assert!((60_000..61_000).contains(&shown.waited_ms), "{shown:?}");
    assert!((28..=31).contains(&shown.looks), "a look every two seconds: {shown:?}");
}

#[tokio::test(start_paused = true)]
async fn a_wait_may_have_a_name_for_its_end() {
    let named = Cause::new(Code(307), "the load balancer has no healthy target");
    let because = Because::new("0 of 3 targets healthy").in_the_end(named);
    assert_eq!(run(ONE, looks(vec![Verdict::not_yet(because)])).await.cause().code, Code(307));
}

/// What a gate says of a cause, and whether waiting may help.
fn named(heals: Heals) -> Because {
    let cause = Cause::new(Code(304), "cp-1 belongs to another PKI").heals(heals);
    Because::new("unknown authority").in_the_end(cause)
}

#[tokio::test(start_paused = true)]
async fn wait_ends_once_a_cause_that_does_not_heal_is_confirmed() {
    for heals in [Heals::AfterAction, Heals::Never] {
        let log = run(ONE, looks(vec![Verdict::not_yet(named(heals))])).await;
        let cause = log.cause();
        assert_eq!((cause.code, cause.heals), (Code(304), Some(heals)));
        let seconds = log.elapsed().as_secs();
        assert!((20..24).contains(&seconds), "{heals}: {seconds} s");
        let shown = cause.shown_by.unwrap();
        assert!(shown.looks >= 3, "{shown:?}");
    }
    let log = run(ONE, looks(vec![Verdict::not_yet(named(Heals::ByItself))])).await;
    assert!(log.elapsed() >= MINUTE, "waiting may help: {:?}", log.elapsed());
    let surer = named(Heals::Never).sure_after(Duration::from_secs(40));
    let log = run(ONE, looks(vec![Verdict::not_yet(surer)])).await;
    assert!((40..44).contains(&log.elapsed().as_secs()), "{:?}", log.elapsed());
}

#[tokio::test(start_paused = true)]
async fn wait_confirms_a_cause_by_looks_in_a_row() {
    let doomed = || Verdict::not_yet(named(Heals::Never));
    let eight = |other: Verdict| [vec![doomed(); 8], vec![other]].concat();
    for other in [
        Verdict::not_yet("it restarts"),
        Verdict::blind(Failure::transient("EOF")),
        Verdict::not_yet(named(Heals::ByItself)),
    ] {
        // Sixteen seconds of it, something else, sixteen seconds of it, and it is well.
        let script = [eight(other.clone()), eight(other.clone()), vec![ready()]].concat();
        let log = run(ONE, looks(script)).await;
        assert_eq!(log.outcome, RunOutcome::Proven, "{other}");
    }
}

#[tokio::test(start_paused = true)]
async fn acts_end_once_a_cause_that_does_not_heal_is_confirmed() {
    let cause = || *named(Heals::AfterAction).in_the_end.unwrap();
    let not_yet = || ActError::not_yet(Failure::transient("unknown authority"), cause());
    let log = run(ONE, acts((0..500).map(|_| not_yet()).collect())).await;
    assert_eq!(log.cause().code, Code(304));
    assert!((20..90).contains(&log.elapsed().as_secs()), "{:?}", log.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_gate_that_cannot_look_is_never_healthy() {
    let fog = Verdict::blind(Failure::transient("EOF"));
    let cause = run(ONE, looks(vec![fog])).await.cause();
    assert_eq!((cause.code, cause.message.as_str()), (codes::COULD_NOT_LOOK, "EOF"));
    assert_eq!(cause.shown_by.unwrap().last_answer.unwrap(), "EOF");
}

#[tokio::test(start_paused = true)]
async fn a_look_that_is_refused_for_good_ends_the_wait_at_once() {
    let log = run(ONE, looks(vec![Verdict::blind(Failure::permanent("401"))])).await;
    assert_eq!(log.cause().code, codes::COULD_NOT_LOOK);
    assert!(log.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_look_that_never_answers_is_given_up() {
    let log = run(ONE, looks(vec![])).await;
    assert_eq!(log.verdicts(), ["could not look: no answer within 30 s"]);
    assert_eq!(log.cause().message, "no answer within 30 s");
}

#[tokio::test(start_paused = true)]
async fn what_must_stay_ready_is_looked_at_until_it_has() {
    const STABLE: &[Stage] = &[Stage {
        name: "etcd",
        after: &[],
        scope: Scope::Cluster,
        checks: &[Check::gate("etcd", Duration::from_mins(10)).stable(MINUTE)],
    }];
    let lapse = Verdict::not_yet("cp-2 restarted");
    let log = run(STABLE, looks(vec![ready(), ready(), lapse, ready()])).await;
    let waiting = "ready, and must stay so for 60 s";
    assert_eq!(log.verdicts(), [waiting, "cp-2 restarted", waiting, "3 members, leader cp-1"]);
    assert!(log.elapsed() >= Duration::from_secs(64), "a lapse starts the window again");
    assert_eq!(log.outcome, RunOutcome::Proven);
}

#[tokio::test(start_paused = true)]
async fn tries_are_counted_and_say_why_the_last_one_ended() {
    let log = run(ONE, acts(vec![Failure::transient("502").into()])).await;
    assert_eq!(log.outcome, RunOutcome::Proven);
    let tries: Vec<_> = log
        .events
        .iter()
        .filter_map(|event| match &event.what {
            What::AttemptStarted { after, .. } => {
                Some((event.attempt, after.as_ref().map(|failure| failure.message.clone())))
            }
            _ => None,
        })
        .collect();
    assert_eq!(tries, [(1, None), (2, Some("502".to_owned()))]);
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_is_waited_out() {
    let class = Class::RateLimited { after_ms: Some(30_000) };
    let log = run(ONE, acts(vec![Failure::new(class, "429").into()])).await;
    assert_eq!(log.outcome, RunOutcome::Proven);
    assert!(log.elapsed() >= Duration::from_secs(30));
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_for_good_is_not_tried_again() {
    let log = run(ONE, acts(vec![Failure::permanent("invalid_input").into()])).await;
    assert_eq!(log.cause().code, codes::REFUSED);
    assert!(log.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn tries_end_with_the_deadline() {
    let failures = (0..500).map(|_| Failure::transient("502").into()).collect();
    let log = run(ONE, acts(failures)).await;
    assert_eq!(log.cause().code, codes::NO_SUCCESS_IN_TIME);
    assert!(log.elapsed() <= MINUTE, "{:?}", log.elapsed());
}

#[tokio::test(start_paused = true)]
async fn what_did_not_work_yet_has_its_own_name_in_the_end() {
    let not_yet = || {
        let cause = Cause::new(Code(317), "the clock of cp-1 is not in sync");
        ActError::not_yet(Failure::transient("not in sync yet"), cause)
    };
    let log = run(ONE, acts(vec![not_yet(), not_yet()])).await;
    assert_eq!(log.outcome, RunOutcome::Proven, "another try helps");
    let log = run(ONE, acts((0..500).map(|_| not_yet()).collect())).await;
    assert_eq!(log.cause().code, Code(317));
    assert!(log.elapsed() <= MINUTE, "{:?}", log.elapsed());
}

const CHAIN: &[Stage] = &[
    Stage { name: "nodes", after: &[], scope: Scope::EachNode, checks: &[] },
    Stage {
        name: "config",
        after: &[("nodes", Reach::Chain)],
        scope: Scope::EachNode,
        checks: &[],
    },
    Stage {
        name: "etcd",
        after: &[("config", Reach::ControlPlanes)],
        scope: Scope::Cluster,
        checks: &[],
    },
    Stage {
        name: "ready",
        after: &[("etcd", Reach::All), ("config", Reach::Chain)],
        scope: Scope::EachNode,
        checks: &[],
    },
    Stage { name: "proof", after: &[("ready", Reach::All)], scope: Scope::Cluster, checks: &[] },
];

#[tokio::test(start_paused = true)]
async fn a_slow_worker_holds_up_only_itself() {
    let takes = [("nodes on worker-2".to_owned(), Duration::from_secs(100))].into();
    let log = run(CHAIN, Script { takes, ..Script::default() }).await;
    assert_eq!(log.span(&Unit::on("ready", "worker-1")).1, 0);
    assert_eq!(log.span(&Unit::whole("etcd")).1, 0, "only control planes count");
    assert_eq!(log.span(&Unit::on("config", "worker-2")).0, 100);
    assert_eq!(log.span(&Unit::whole("proof")).0, 100, "a barrier waits for all");
}

#[tokio::test(start_paused = true)]
async fn after_a_failure_nothing_new_starts_and_what_runs_is_finished() {
    let acts = [("nodes on worker-1".to_owned(), vec![Failure::permanent("no").into()])].into();
    let takes = [("nodes on worker-2".to_owned(), Duration::from_secs(5))].into();
    let log = run(CHAIN, Script { acts: Mutex::new(acts), takes, ..Script::default() }).await;
    let failed = Unit::on("nodes", "worker-1");
    assert!(matches!(&log.outcome, RunOutcome::Failed { unit, .. } if *unit == failed));
    assert_eq!(log.span(&Unit::on("nodes", "worker-2")), (0, 5));
    let hindered = log.events.iter().filter(|event| {
        let because = Hindrance::Failed { unit: failed.clone() };
        matches!(&event.what, What::WillNotRun { because: found, .. } if *found == because)
    });
    assert!(hindered.count() >= 5);
}

#[tokio::test(start_paused = true)]
async fn work_that_only_looks_hears_of_every_failure() {
    let hopeless = || vec![ActError::from(Cause::new(Code(313), "it is not ready"))];
    let acts = || Mutex::new([("nodes on worker-1".to_owned(), hopeless())].into());
    let takes = || [("nodes on worker-2".to_owned(), Duration::from_secs(5))].into();
    let script =
        |after_failure| Script { acts: acts(), takes: takes(), after_failure, ..Script::default() };
    let failed = Unit::on("nodes", "worker-1");
    let passed = |log: &Log, wanted: &str| {
        let wanted = Unit::on(wanted, "worker-2");
        log.events.iter().any(|event| {
            matches!(&event.what, What::StageDone { unit, outcome: UnitOutcome::Passed { .. } }
                if *unit == wanted)
        })
    };
    let halted = run(CHAIN, script(AfterFailure::Halt)).await;
    assert!(!passed(&halted, "config"));
    let log = run(CHAIN, script(AfterFailure::GoOn)).await;
    assert!(matches!(&log.outcome, RunOutcome::Failed { unit, .. } if *unit == failed));
    assert!(passed(&log, "config"), "the other node goes on");
}

#[tokio::test(start_paused = true)]
async fn a_run_may_go_only_so_far() {
    let until = Until::Stage("etcd".into());
    let log = run_until(CHAIN, Script::default(), until, Cancel::new()).await;
    let missing = vec!["ready: not asked for".to_owned(), "proof: not asked for".to_owned()];
    assert_eq!(log.outcome, RunOutcome::NotProven { missing });
    assert!(log.is_done, "all that was asked for was proven");
}

#[tokio::test(start_paused = true)]
async fn what_is_skipped_lets_others_pass_but_may_cost_the_proof() {
    let skipping = |what: &str| Script {
        skips: [(what.to_owned(), Skip { reason: "no talosconfig".to_owned() })].into(),
        ..Script::default()
    };
    let not_proven = |missing: &str| RunOutcome::NotProven { missing: vec![missing.to_owned()] };
    let nothing_to_prove = run(CHAIN, skipping("etcd")).await;
    assert_eq!(nothing_to_prove.outcome, RunOutcome::Proven);
    let left_out = run(ONE, skipping("etcd")).await;
    assert_eq!(left_out.outcome, not_proven("etcd: no talosconfig"));
    assert!(!left_out.is_done);
    assert_eq!(
        run(ONE, skipping("etcd/etcd")).await.outcome,
        not_proven("etcd, etcd: no talosconfig")
    );
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_told_without_waiting_for_the_others() {
    const TWO: &[Stage] = &[
        Stage {
            name: "image",
            after: &[],
            scope: Scope::Cluster,
            checks: &[Check::gate("image", Duration::from_mins(20))],
        },
        Stage { name: "network", after: &[], scope: Scope::Cluster, checks: &[] },
    ];
    let waiting = vec![Verdict::not_yet("creating")];
    let script = Script {
        acts: Mutex::new([("network".to_owned(), vec![Failure::permanent("quota").into()])].into()),
        looks: Mutex::new([("image".to_owned(), waiting)].into()),
        ..Script::default()
    };
    let log = run(TWO, script).await;
    assert_eq!(log.cause().message, "quota");
    assert!(log.elapsed() < Duration::from_secs(1), "{:?}", log.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_window_may_outlast_the_deadline_of_what_was_ready_in_time() {
    const LATE: &[Stage] = &[Stage {
        name: "etcd",
        after: &[],
        scope: Scope::Cluster,
        checks: &[Check::gate("etcd", MINUTE).stable(Duration::from_mins(5))],
    }];
    let log = run(LATE, looks(vec![Verdict::not_yet("1 of 3 members"), ready()])).await;
    assert_eq!(log.outcome, RunOutcome::Proven);
    assert!(log.elapsed() >= Duration::from_mins(5));
}

#[tokio::test(start_paused = true)]
async fn a_gate_that_is_rate_limited_looks_later() {
    let class = Class::RateLimited { after_ms: Some(20_000) };
    let log = run(ONE, looks(vec![Verdict::blind(Failure::new(class, "429"))])).await;
    let shown = log.cause().shown_by.unwrap();
    assert!(shown.looks <= 4, "{shown:?}");
}

#[tokio::test(start_paused = true)]
async fn an_unknown_last_stage_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (chance, clock) = (Chance::seeded(1), Clock::real());
    let state = StateFolder::open(folder.path(), &chance).unwrap();
    let session = Session::open(&state, opening(), clock, &chance).unwrap();
    let engine = Engine { session, chance, cancel: Cancel::new(), backoff: Backoff::default() };
    let until = Until::Stage("ectd".into());
    let error = engine.run(plan(ONE), &until, Arc::new(Script::default())).await.unwrap_err();
    assert_eq!(error.to_string(), "no stage is named `ectd`; there are etcd");
}

/// Work with a bug in one unit.
struct Buggy;

impl Work for Buggy {
    async fn act(&self, unit: &Unit, hands: &Hands) -> Result<(), ActError> {
        let call = Call::new(CallClass::Named, "create", unit.to_string(), b"");
        let nothing = async |_| Ok(Sight::NotThere);
        let unit = unit.clone();
        let send = move |_| async move {
            assert_ne!(unit.to_string(), "nodes on worker-1", "the client has a bug");
            Ok(Made::default())
        };
        hands.ensure(call, nothing, send).await?;
        Ok(())
    }

    async fn look(&self, _: &Unit, _: &CheckName, _: &Eyes) -> Verdict {
        panic!("the gate has a bug")
    }

    async fn probe(&self, _: &Unit, _: &CheckName, _: &Hands) -> Result<Verdict, ActError> {
        Ok(Verdict::not_yet(""))
    }

    async fn inputs(&self, _: &Unit, _: &CheckName, _: &Eyes) -> Result<Digest, Failure> {
        Ok(Digest::ZERO)
    }
}

#[tokio::test(start_paused = true)]
async fn every_failure_ends_with_a_next_step() {
    let target = || Cause::new(Code(307), "no target");
    let explained = "seaworthy explain SW0307";
    for (script, expected) in [
        (
            looks(vec![Verdict::not_yet("slow")]),
            &["look at SW0101", "seaworthy explain SW0101"][..],
        ),
        (
            looks(vec![Verdict::blind(Failure::transient("no route"))]),
            &["look at SW0102", "seaworthy explain SW0102"],
        ),
        (
            acts(vec![Failure::permanent("no").into()]),
            &["look at SW0103", "seaworthy explain SW0103"],
        ),
        (looks(vec![Verdict::failed(target())]), &["look at SW0307", explained]),
        (
            looks(vec![Verdict::failed(target().next("seaworthy plan", "shows it"))]),
            &["seaworthy plan", explained],
        ),
        (
            looks(vec![Verdict::failed(target().next(explained, "tells more"))]),
            &["look at SW0307", explained],
        ),
    ] {
        let cause = run(ONE, script).await.cause();
        let commands: Vec<_> = cause.next.iter().map(|step| step.command.as_str()).collect();
        assert_eq!(commands, expected, "{cause}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_bug_fails_its_unit_and_leaves_a_whole_journal() {
    let log = run(ONE, Buggy).await;
    assert_eq!(log.cause().code, codes::BUG);
    assert_eq!(log.cause().message, "a bug in seaworthy: the gate has a bug");
    let log = run(CHAIN, Buggy).await;
    let cause = log.cause();
    assert!(cause.message.contains("the client has a bug"), "{cause}");
    let in_doubt = log.events.iter().any(|event| {
        matches!(&event.what, What::Result { outcome: CallOutcome::InDoubt { .. }, .. })
    });
    assert!(in_doubt, "nobody knows whether the call has arrived");
}

/// Every unit fails at once, on real threads.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn units_that_fail_together_end_the_run_in_order() {
    for _ in 0..20 {
        let units = ["cp-1", "worker-1", "worker-2"].map(|node| format!("nodes on {node}"));
        let no = || vec![Failure::permanent("401").into()];
        let acts = units.into_iter().map(|unit| (unit, no())).collect();
        let script = Script { acts: Mutex::new(acts), ..Script::default() };
        assert_eq!(run(CHAIN, script).await.cause().message, "401");
    }
}

/// Several calls at once in one act, of which one is refused while the others
/// are under way; and every unit wants the same thing as well.
#[derive(Clone, Default)]
struct Together {
    arrived: Arc<Mutex<Vec<String>>>,
}

impl Work for Together {
    async fn act(&self, unit: &Unit, hands: &Hands) -> Result<(), ActError> {
        let wish = |name: String, takes: u64| {
            let (world, looking) = (self.clone(), self.clone());
            let (wanted, made) = (name.clone(), name.clone());
            let clock = hands.eyes().clock();
            let look = async move |_: Vec<events::IntentRef>| {
                let there = looking.arrived.lock().unwrap().contains(&wanted);
                Ok(if there { Sight::There(Made::default()) } else { Sight::NotThere })
            };
            let send = move |_| async move {
                clock.sleep(Duration::from_millis(takes)).await;
                let mut arrived = world.arrived.lock().unwrap();
                arrived.push(made.clone());
                let refused =
                    made.ends_with("refused once") && !arrived.contains(&format!("{made}, not"));
                if refused {
                    arrived.pop();
                    arrived.push(format!("{made}, not"));
                    let failure = Failure::transient("conflict");
                    return Err(SendError::refused(failure));
                }
                Ok(Made::default())
            };
            hands.ensure(Call::new(CallClass::Named, "create", name, b""), look, send)
        };
        tokio::try_join!(
            wish(format!("{unit} slow"), 50),
            wish(format!("{unit} refused once"), 5),
            wish("shared".to_owned(), 20),
        )?;
        Ok(())
    }

    async fn look(&self, _: &Unit, _: &CheckName, _: &Eyes) -> Verdict {
        Verdict::ready(Evidence::new("fine"))
    }

    async fn probe(&self, _: &Unit, _: &CheckName, _: &Hands) -> Result<Verdict, ActError> {
        Ok(Verdict::not_yet(""))
    }

    async fn inputs(&self, _: &Unit, _: &CheckName, _: &Eyes) -> Result<Digest, Failure> {
        Ok(Digest::ZERO)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn calls_under_way_are_no_doubts_and_nothing_is_made_twice() {
    let world = Together::default();
    let log = run(CHAIN, world.clone()).await;
    assert_eq!(log.outcome, RunOutcome::Proven);
    let arrived = world.arrived.lock().unwrap();
    assert_eq!(arrived.iter().filter(|name| *name == "shared").count(), 1, "{arrived:?}");
    let slow = arrived.iter().filter(|name| name.ends_with("slow")).count();
    assert_eq!(slow, plan(CHAIN).units().count(), "{arrived:?}");
}

#[tokio::test(start_paused = true)]
async fn what_is_not_required_warns_and_does_not_fail() {
    const OPTIONAL: &[Stage] = &[Stage {
        name: "etcd",
        after: &[],
        scope: Scope::Cluster,
        checks: &[Check::gate("defragmented", MINUTE).optional()],
    }];
    let log = run(OPTIONAL, looks(vec![Verdict::not_yet("60 % free")])).await;
    assert_eq!(log.outcome, RunOutcome::Proven);
    let warned = log.events.iter().find_map(|event| match &event.what {
        What::Warning { message, .. } => Some(message.as_str()),
        _ => None,
    });
    let expected = "defragmented is not ready, and not required: SW0101: 60 % free";
    assert_eq!(warned, Some(expected));
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_a_wait_at_once() {
    let cancel = Cancel::new();
    let asking = cancel.clone();
    tokio::spawn(async move {
        Clock::real().sleep(Duration::from_secs(7)).await;
        asking.ask();
    });
    let script = looks(vec![Verdict::not_yet("1 of 3 members")]);
    let log = run_until(ONE, script, Until::TheEnd, cancel).await;
    assert!(matches!(log.outcome, RunOutcome::Interrupted { .. }), "{:?}", log.outcome);
    let done = &log.events[log.events.len() - 2].what;
    assert!(matches!(done, What::StageDone { outcome: UnitOutcome::Stopped, .. }), "{done:?}");
    assert!(log.elapsed() < Duration::from_secs(10));
}

/// Sends a call that must not be repeated, and looks only through fog.
struct Foggy;

impl Work for Foggy {
    async fn act(&self, _: &Unit, hands: &Hands) -> Result<(), ActError> {
        let call = || Call::new(CallClass::Once, "bootstrap", "cp-1", b"");
        let fog = async |_| Ok(Sight::Unclear { because: "etcd is preparing".to_owned() });
        let nothing = async |_| Ok(Sight::NotThere);
        let lost = |_| async { Err(SendError::lost(Failure::transient("connection reset"))) };
        let first = hands.ensure(call(), nothing, lost).await;
        assert!(matches!(first, Err(ActError::Failed(_))), "{first:?}");
        // The answer was lost and nothing can be told: wait, and do not send.
        let second =
            hands.ensure(call(), fog, |_| async { panic!("it must not be sent again") }).await?;
        assert!(matches!(second, Ensured::Pending(_)), "{second:?}");
        Ok(())
    }

    async fn look(&self, _: &Unit, _: &CheckName, _: &Eyes) -> Verdict {
        Verdict::not_yet("no members yet")
    }

    async fn probe(&self, _: &Unit, _: &CheckName, _: &Hands) -> Result<Verdict, ActError> {
        Ok(Verdict::not_yet(""))
    }

    async fn inputs(&self, _: &Unit, _: &CheckName, _: &Eyes) -> Result<Digest, Failure> {
        Ok(Digest::ZERO)
    }
}

#[tokio::test(start_paused = true)]
async fn a_bootstrap_in_doubt_is_waited_for_and_not_sent_again() {
    let log = run(ONE, Foggy).await;
    assert_eq!(log.cause().message, "no members yet");
    let intents = log.events.iter().filter(|event| matches!(event.what, What::Intent { .. }));
    assert_eq!(intents.count(), 1);
}

/// Work whose call is refused for a reason that has a name.
struct Broke;

impl Work for Broke {
    async fn act(&self, _: &Unit, hands: &Hands) -> Result<(), ActError> {
        let call = Call::new(CallClass::Named, "create", "server", b"");
        let cause = Cause::new(Code(203), "the project's limit is reached");
        let refused = SendError::refused(Failure::transient("no")).named(Some(cause));
        hands.ensure(call, async |_| Ok(Sight::NotThere), |_| async { Err(refused) }).await?;
        Ok(())
    }

    async fn look(&self, _: &Unit, _: &CheckName, _: &Eyes) -> Verdict {
        Verdict::ready(Evidence::new("never looked"))
    }

    async fn probe(&self, _: &Unit, _: &CheckName, _: &Hands) -> Result<Verdict, ActError> {
        unreachable!("there is no probe")
    }

    async fn inputs(&self, _: &Unit, _: &CheckName, _: &Eyes) -> Result<Digest, Failure> {
        unreachable!("there is no probe")
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_with_a_name_is_told_by_it_and_not_tried_again() {
    let log = run(ONE, Broke).await;
    assert_eq!(log.cause().code, Code(203));
    let results = log.events.iter().filter(|event| matches!(event.what, What::Result { .. }));
    assert_eq!(results.count(), 1);
}
