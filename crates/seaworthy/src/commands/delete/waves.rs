//! In which order objects go: what needs a controller or a definition to go
//! has to go before them.

use objects::{Doomed, Kind};

use super::doomed::Target;

/// When an object's turn is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wave {
    /// Its kind is defined by another object, whose controller may be another.
    Custom,
    Usual,
    /// Others are in it, or of it.
    Holder,
}

/// Returns the objects in waves; each begins when the one before it is over.
pub(super) fn of(targets: &[Target]) -> Vec<Vec<Doomed>> {
    let defined = targets.iter().filter_map(|target| target.defines.as_ref());
    let defined: Vec<(&str, &str)> =
        defined.map(|(group, kind)| (group.as_str(), kind.as_str())).collect();
    let waves = [Wave::Custom, Wave::Usual, Wave::Holder].map(|wave| {
        let doomed = targets.iter().map(|target| &target.doomed);
        let members = doomed.filter(|doomed| turn(&doomed.id.kind, &defined) == wave);
        members.cloned().collect::<Vec<Doomed>>()
    });
    waves.into_iter().filter(|members| !members.is_empty()).collect()
}

fn turn(kind: &Kind, defined: &[(&str, &str)]) -> Wave {
    let is_definition = kind.is("apiextensions.k8s.io", "CustomResourceDefinition");
    match kind {
        _ if is_definition || kind.is("", "Namespace") => Wave::Holder,
        _ if defined.contains(&(kind.group.as_str(), kind.kind.as_str())) => Wave::Custom,
        _ => Wave::Usual,
    }
}

#[cfg(test)]
mod tests {
    use objects::manifest;

    use super::*;

    #[test]
    fn what_is_defined_goes_before_its_definition_and_namespaces_last() {
        let text = "
{apiVersion: v1, kind: Namespace, metadata: {name: app, uid: '1'}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: operator, uid: '2'}}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: w, uid: '3'},
 spec: {group: example.com, names: {kind: Widget}}}
---
{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, uid: '4'}}
---
{apiVersion: example.com/v1, kind: Other, metadata: {name: o, uid: '5'}}
";
        let objects = manifest::read("test", text.as_bytes()).unwrap();
        let targets: Vec<Target> = objects.iter().filter_map(Target::of).collect();
        let waves = of(&targets);
        let uids: Vec<Vec<&str>> =
            waves.iter().map(|wave| wave.iter().map(|one| one.uid.as_str()).collect()).collect();
        assert_eq!(uids, [vec!["4"], vec!["2", "5"], vec!["1", "3"]]);
    }
}
