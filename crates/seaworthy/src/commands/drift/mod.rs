//! `drift`: what others have changed.

mod shown;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use objects::Cluster;
use objects::set::{Inventory, Prune, Set, Settings, Walk};

use crate::access::{AccessArgs, within};
use crate::cli::Output;
use crate::command_error::CommandError;
use crate::commands::apply::{applyset, files, refused};
use crate::exit::Exit;
use crate::running::Signals;
use crate::ui::Ui;
use crate::{envelope, kept, reading, runtime};
use shown::Found;

/// Show what others have changed of our objects, who and when
///
/// With manifests: fields of theirs that somebody else has changed or removed,
/// and objects that are gone. What only differs because the manifests are newer
/// than the last apply is `diff`'s matter, and objects that we have never applied
/// are told as such. With a set alone: what others have set
/// on its members since they were applied, which is no verdict: whether those
/// fields were ours, and what others have removed, can only be
/// seen with the manifests. Exits with 7 where there is drift, or where
/// objects are not ours.
#[derive(Args, Debug)]
pub(crate) struct DriftArgs {
    /// A manifest, a folder of manifests, or `-` for stdin (can be repeated)
    #[arg(short, long = "filename", value_name = "FILE", required_unless_present = "applyset")]
    filename: Vec<PathBuf>,

    /// Read the folders inside of folders too
    #[arg(short = 'R', long)]
    recursive: bool,

    /// The set that the objects were applied as: NAME, secret/NAME or configmap/NAME
    #[arg(long, value_name = "NAME")]
    applyset: Option<String>,

    /// How long to repeat what fails for a moment
    #[arg(long, value_name = "DURATION", default_value = "2m", value_parser = spec::Duration::parse)]
    timeout: spec::Duration,

    #[command(flatten)]
    access: AccessArgs,
}

pub(crate) fn run(args: &DriftArgs, ui: &Ui) -> Result<(), CommandError> {
    runtime::block_on(async {
        let mut signals = Signals::listen()?;
        let objects = match args.filename.as_slice() {
            [] => None,
            named => {
                let patience = args.timeout.into();
                Some(files::read(named, args.recursive, patience, &mut signals).await?)
            }
        };
        let cluster = args.access.connect(args.timeout.into(), &mut signals, ui).await?;
        let cluster = within(cluster, args.timeout.into());
        let namespace = args.access.namespace(&cluster);
        let inventory = applyset(args.applyset.as_deref(), &namespace)?;
        let subject = match (objects, inventory) {
            (Some(objects), inventory) => {
                Subject::Set(Set { objects, namespace, inventory, prune: Prune::No })
            }
            (None, Some(inventory)) => Subject::Members(inventory),
            (None, None) => return Err(CommandError::say(Exit::Usage, "nothing was named")),
        };
        drift(args, &cluster, subject, &mut signals, ui).await
    })
}

/// What may have drifted.
enum Subject {
    /// Objects that are wished for.
    Set(Set),
    /// Whatever an inventory holds.
    Members(Inventory),
}

async fn drift(
    args: &DriftArgs,
    cluster: &Cluster,
    subject: Subject,
    signals: &mut Signals,
    ui: &Ui,
) -> Result<(), CommandError> {
    let (means, patience) = (reading::means(cluster), Duration::from(args.timeout));
    let settings = Settings { walk: Walk::Compare, patience, ..Settings::default() };
    let veil = kept::veil();
    let work = async {
        match subject {
            Subject::Set(set) => {
                cluster.drift_of_set(set, settings, &means, &veil).await.map(Found::of_set)
            }
            Subject::Members(inventory) => cluster
                .drift_of_members(inventory, settings, &means, &veil)
                .await
                .map(|(all, drifts)| Found::of_members(all, drifts)),
        }
    };
    let found = reading::until_signal(work, cluster, &means, patience, signals, ui).await?;
    let found = found.map_err(|error| refused(&error))?;
    let exit = found.exit();
    match ui.output() {
        Output::Json => envelope::print("drift", exit, found.records(), found.more(), ui)?,
        Output::Text => found.print(means.clock.elapsed(), ui)?,
    }
    CommandError::unless_done(exit)
}
