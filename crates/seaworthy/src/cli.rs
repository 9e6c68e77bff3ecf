//! What can be asked for.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::command_error::CommandError;
use crate::commands::{
    apply, completions, credentials, delete, diff, down, drift, explain, init, plan, rehearse,
    report, schema, sim, status, talos, up, validate, verify, wait,
};
use crate::exit::Exit;
use crate::ui::Ui;

/// From nothing to a Kubernetes cluster that is proven healthy
///
/// Every step is an action, a gate that reads the real state, and the evidence
/// for its verdict. Data goes to stdout, words for people go to stderr.
#[derive(Debug, Parser)]
#[command(name = "seaworthy", version, max_term_width = 100, after_help = exit_codes())]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) shared: Shared,

    /// How to print data
    #[arg(short, long, global = true, value_name = "FORMAT", default_value = "text")]
    pub(crate) output: Output,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command knows.
#[derive(Args, Debug)]
pub(crate) struct Shared {
    /// Where the state of clusters lies [default: .seaworthy, beside the cluster file if one is given]
    #[arg(long, global = true, value_name = "FOLDER", env = "SEAWORTHY_STATE_DIR")]
    pub(crate) state_dir: Option<PathBuf>,

    /// When to use colour
    #[command(flatten)]
    pub(crate) color: colorchoice_clap::Color,
}

/// How data is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// For people
    Text,
    /// For machines
    Json,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(init::InitArgs),
    Validate(validate::ValidateArgs),
    Plan(plan::PlanArgs),
    Rehearse(rehearse::RehearseArgs),
    Up(up::UpArgs),
    Status(status::StatusArgs),
    Verify(verify::VerifyArgs),
    Down(down::DownArgs),
    Kubeconfig(credentials::KubeconfigArgs),
    Talosconfig(credentials::TalosconfigArgs),
    Talos(talos::TalosArgs),
    Apply(apply::ApplyArgs),
    Diff(diff::DiffArgs),
    Drift(drift::DriftArgs),
    Wait(wait::WaitArgs),
    Delete(delete::DeleteArgs),
    Explain(explain::ExplainArgs),
    Report(report::ReportArgs),
    Sim(sim::SimArgs),
    Schema(schema::SchemaArgs),
    Completions(completions::CompletionsArgs),
}

impl Command {
    /// Returns the name of a command on Kubernetes objects: those tell machines
    /// of themselves in one envelope.
    pub(crate) fn on_objects(&self) -> Option<&'static str> {
        match self {
            Self::Apply(_) => Some("apply"),
            Self::Diff(_) => Some("diff"),
            Self::Drift(_) => Some("drift"),
            Self::Wait(_) => Some("wait"),
            Self::Delete(_) => Some("delete"),
            Self::Explain(args) if args.is_on_objects() => Some("explain"),
            _ => None,
        }
    }

    /// Does what was asked.
    pub(crate) fn run(self, shared: &Shared, ui: &mut Ui) -> Result<(), CommandError> {
        match self {
            Self::Init(args) => init::run(&args, ui),
            Self::Validate(args) => validate::run(&args, ui),
            Self::Plan(args) => plan::run(&args, shared, ui),
            Self::Rehearse(args) => rehearse::run(&args, shared, ui),
            Self::Up(args) => up::run(&args, shared, ui),
            Self::Status(args) => status::run(&args, shared, ui),
            Self::Verify(args) => verify::run(&args, shared, ui),
            Self::Down(args) => down::run(&args, shared, ui),
            Self::Kubeconfig(args) => credentials::kubeconfig(&args, shared, ui),
            Self::Talosconfig(args) => credentials::talosconfig(&args, shared, ui),
            Self::Talos(args) => talos::run(&args, shared, ui),
            Self::Apply(args) => apply::run(&args, ui),
            Self::Diff(args) => diff::run(&args, ui),
            Self::Drift(args) => drift::run(&args, ui),
            Self::Wait(args) => wait::run(&args, ui),
            Self::Delete(args) => delete::run(&args, ui),
            Self::Explain(args) => explain::run(&args, ui),
            Self::Report(args) => report::run(args, shared, ui),
            Self::Sim(args) => sim::run(&args, shared, ui),
            Self::Schema(args) => schema::run(&args, ui),
            Self::Completions(args) => completions::run(&args),
        }
    }
}

fn exit_codes() -> String {
    let lines = Exit::ALL.map(|(exit, says)| format!("  {}  {says}", exit.code()));
    format!("Exit codes:\n{}", lines.join("\n"))
}
