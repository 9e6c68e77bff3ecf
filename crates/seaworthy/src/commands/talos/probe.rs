//! `talos probe`: which mode nodes are in, without any secret.

use std::io::{self, Write};
use std::time::Duration;

use ::talos::pki::Certificate;
use ::talos::probe::{Mode, Owner, Sighting, probe};
use clap::Args;
use futures::future::join_all;
use serde_json::{Value, json};

use super::authority::OursArgs;
use crate::cli::Output;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::place::Place;
use crate::runtime;
use crate::ui::Ui;

/// Tell which mode Talos nodes are in, without any secret
///
/// One connection to each, all at once: whether it waits for its config
/// (maintenance mode), has one, of whose cluster, or cannot be reached and why.
/// Nothing is changed. Ends with 3 where a node is in none of these modes.
#[derive(Args, Debug)]
pub(crate) struct ProbeArgs {
    /// Names or addresses of nodes, with a port where it is not 50000
    #[arg(required = true, value_name = "ADDRESS")]
    addresses: Vec<Place>,
    /// How long all of it may take
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = spec::Duration::parse)]
    timeout: spec::Duration,
    #[command(flatten)]
    ours: OursArgs,
}

/// What became of one place.
struct Looked<'a> {
    place: &'a Place,
    seen: Result<Sighting, String>,
}

pub(crate) fn run(args: &ProbeArgs, ui: &Ui) -> Result<(), CommandError> {
    let ours = args.ours.certificate()?;
    let within = Duration::from(args.timeout);
    let runtime = runtime::new()?;
    let looks = args.addresses.iter().map(|place| look(place, ours.as_ref(), within));
    let looked = runtime.block_on(join_all(looks));
    // A name that is not resolved in time is still asked for, by a thread that
    // nobody can stop and nobody waits for.
    runtime.shutdown_background();
    match ui.output() {
        Output::Json => ui.json(&looked.iter().map(Looked::record).collect::<Vec<_>>())?,
        Output::Text => print(&looked, &mut ui.stdout())?,
    }
    let fine = looked.iter().all(Looked::is_told);
    CommandError::unless_done(if fine { Exit::Done } else { Exit::NotProven })
}

async fn look<'a>(place: &'a Place, ours: Option<&Certificate>, within: Duration) -> Looked<'a> {
    let began = tokio::time::Instant::now();
    let seen = match place.resolve(within).await {
        Ok(address) => Ok(probe(address, ours, within.saturating_sub(began.elapsed())).await),
        Err(why) => Err(why),
    };
    Looked { place, seen }
}

impl Looked<'_> {
    /// Whether it is plain what the node is, and nobody else's.
    fn is_told(&self) -> bool {
        matches!(
            self.seen.as_ref().map(|sighting| &sighting.mode),
            Ok(Mode::Maintenance | Mode::Configured(Owner::Us | Owner::Unknown))
        )
    }

    fn word(&self) -> &'static str {
        match self.seen.as_ref().map(|sighting| &sighting.mode) {
            Ok(Mode::Configured(Owner::Us)) => "ours",
            Ok(Mode::Configured(Owner::Somebody)) => "somebody's",
            Ok(mode) => mode.word(),
            Err(_) => "unreachable",
        }
    }

    fn means(&self) -> String {
        match &self.seen {
            Ok(sighting) => sighting.means(),
            Err(why) => format!("It could not be asked: {why}."),
        }
    }

    fn advice(&self) -> Option<&'static str> {
        match &self.seen {
            Ok(sighting) => sighting.advice(),
            Err(_) => Some("Check the name, or give the address."),
        }
    }

    fn record(&self) -> Value {
        let sighting = self.seen.as_ref().ok();
        json!({
            "node": self.place.written,
            "address": sighting.map(|sighting| sighting.node.to_string()),
            "mode": self.word(),
            "means": self.means(),
            "next": self.advice(),
            "facts": sighting.map(|sighting| sighting.evidence().facts),
        })
    }
}

fn print(looked: &[Looked<'_>], out: &mut dyn Write) -> io::Result<()> {
    let width = looked.iter().map(|one| one.place.written.len()).max().unwrap_or(0);
    for one in looked {
        writeln!(out, "{:width$}  {:<13}  {}", one.place.written, one.word(), one.means())?;
        let mut more =
            |name: &str, text: &str| writeln!(out, "{:width$}  {:<13}  {name}  {text}", "", "");
        if let Ok(Sighting { node, mode: Mode::Unreachable(reason), .. }) = &one.seen {
            more("answer", &format!("{reason}, at {node}"))?;
        }
        if let Some(certificate) = one.seen.as_ref().ok().and_then(|it| it.certificate.as_ref()) {
            more("fingerprint", &certificate.spki.to_string())?;
            more("valid until", &certificate.not_after.to_string())?;
        }
        if let Some(advice) = one.advice() {
            more("next", advice)?;
        }
    }
    Ok(())
}
