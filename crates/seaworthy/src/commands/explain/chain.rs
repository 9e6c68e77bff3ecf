//! Why objects are not ready.

use std::io::Write as _;

use events::NextStep;
use objects::{Chain, Object, ObjectId, Subject};
use report::terminal::{Mishap, say};
use serde_json::{Value, json};

use super::ExplainArgs;
use crate::access::within;
use crate::cli::Output;
use crate::command_error::CommandError;
use crate::commands::palette;
use crate::exit::Exit;
use crate::reading::Reader;
use crate::running::Signals;
use crate::selection::Selected;
use crate::ui::Ui;
use crate::{envelope, runtime};

/// Tells of each object whether it is ready, and why not.
pub(super) fn explain(args: &ExplainArgs, ui: &Ui) -> Result<(), CommandError> {
    runtime::block_on(async {
        let mut signals = Signals::listen()?;
        let selection = args.selection.read(args.timeout.into(), &mut signals).await?;
        let cluster = args.access.connect(args.timeout.into(), &mut signals, ui).await?;
        let cluster = within(cluster, args.timeout.into());
        let reader = Reader::new(&cluster, args.timeout.into());
        let namespace = args.access.namespace(&cluster);
        let explaining = async {
            let selected = selection.resolve(&reader, &namespace).await?;
            let (objects, absent) = look(&reader, selected).await?;
            let mut records = Vec::new();
            for object in &objects {
                let chain = cluster.why_of(object).await;
                match ui.output() {
                    Output::Json => records.push(record(object.id(), &chain)),
                    Output::Text => print(object.id(), &chain, ui)?,
                }
            }
            let end = end(&objects, &absent);
            if ui.output() == Output::Json && !records.is_empty() {
                records.extend(absent.iter().map(|id| envelope::object(id, "absent")));
                let exit = end.as_ref().map_or_else(CommandError::exit, |()| Exit::Done);
                envelope::print("explain", exit, records, json!({}), ui)?;
            }
            end
        };
        reader.until_signal(explaining, &mut signals, ui).await
    })
}

async fn look(
    reader: &Reader,
    selected: Vec<Selected>,
) -> Result<(Vec<Object>, Vec<ObjectId>), CommandError> {
    let cluster = &reader.cluster;
    let (mut objects, mut named) = (Vec::new(), Vec::new());
    for Selected { subject, .. } in selected {
        match subject {
            Subject::One(id) => named.push(id),
            Subject::Each(scope) => {
                let listed = reader.ask(async || cluster.list(&scope).await).await?;
                objects.extend(listed.objects);
            }
        }
    }
    objects.extend(reader.ask(async || cluster.find(&named, |object| object).await).await?);
    named.retain(|id| !objects.iter().any(|object| object.id() == id));
    Ok((objects, named))
}

fn print(id: &ObjectId, chain: &Chain, ui: &Ui) -> std::io::Result<()> {
    let mut out = ui.stdout();
    if chain.links.is_empty() {
        return say(palette(ui), "Ready", &id.to_string(), &mut out);
    }
    say(palette(ui), "Not ready", &id.to_string(), &mut out)?;
    let inside = id.namespace.as_ref().map(|name| format!(" -n {name}")).unwrap_or_default();
    let command = format!("kubectl{inside} describe {}/{}", id.kind, id.name);
    let tells = "shows its conditions and events".to_owned();
    let next = vec![NextStep { command, tells }];
    let mishap = Mishap { because: chain.lines(), next, ..Mishap::default() };
    mishap.print_reasons(palette(ui), ui.screen().map(|screen| screen.columns), &mut out)?;
    out.flush()
}

fn record(id: &ObjectId, chain: &Chain) -> Value {
    let links = chain.links.iter().map(|link| json!({ "who": link.who, "says": link.says }));
    let result = if chain.links.is_empty() { "ready" } else { "not ready" };
    let mut record = envelope::object(id, result);
    record["chain"] = links.collect();
    record
}

fn end(objects: &[Object], absent: &[ObjectId]) -> Result<(), CommandError> {
    let names: Vec<String> = absent.iter().map(ToString::to_string).collect();
    match &names[..] {
        [] if objects.is_empty() => {
            Err(CommandError::say(Exit::Refused, "there is no such object to explain"))
        }
        [] => Ok(()),
        [one] => Err(CommandError::say(Exit::Refused, format!("{one} is not there"))),
        many => Err(CommandError::say(Exit::Refused, format!("{} are not there", many.join(", ")))),
    }
}
