//! How the command was called, so that every command that is printed acts on
//! the same cluster when it is pasted.

use std::path::{Path, PathBuf};

use events::NextStep;

/// What a printed command has to repeat: which cluster was meant, and how it
/// was reached.
///
/// The default is a command without any option, for tests and for tools that
/// have no command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Invocation {
    /// The cluster file, as it was given.
    pub file: Option<PathBuf>,
    /// Whether the cluster is a rehearsed one.
    pub rehearsal: bool,
    /// The directory of cluster state, where one was given.
    pub state_dir: Option<PathBuf>,
    /// Options that reach the cloud, each with its value.
    pub cloud: Vec<(&'static str, String)>,
    /// The kubeconfig, where one was given.
    pub kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig, where one was given.
    pub context: Option<String>,
    /// The talosconfig, where one was given.
    pub talosconfig: Option<PathBuf>,
}

impl Invocation {
    /// Renders a command on the cluster, such as `plan`, `up --until etcd`,
    /// `down`, `status` or `kubeconfig --node demo-cp-1`: the cluster file
    /// follows the command's name, the options that reach the cluster come last.
    pub fn on_cluster(&self, command: &str) -> String {
        let mut words = self.with_file(command);
        if self.rehearsal {
            words.push("--rehearsal".to_owned());
        } else {
            words.extend(self.cloud.iter().flat_map(|(name, value)| option(name, value)));
        }
        words.extend(self.state_dir());
        words.join(" ")
    }

    /// Renders `rehearse` with these options, such as `--down`.
    pub fn rehearse(&self, options: &str) -> String {
        let command = format!("rehearse {options}");
        let words = self.with_file(&command).into_iter().chain(self.state_dir());
        words.collect::<Vec<_>>().join(" ")
    }

    /// Renders a command that finds its cluster or run by the state directory
    /// alone, such as `sim fault --mend NAME` or `report verify RUN`.
    pub fn in_state(&self, command: &str) -> String {
        let words = std::iter::once(format!("seaworthy {command}")).chain(self.state_dir());
        words.collect::<Vec<_>>().join(" ")
    }

    /// Renders `verify` with these options.
    pub fn verify(&self, options: &str) -> String {
        let talosconfig =
            self.talosconfig.as_deref().map(|file| path_option("--talosconfig", file));
        let command = format!("verify {options}");
        let words = [self.on_objects(command.trim_end())].into_iter();
        words.chain(talosconfig.into_iter().flatten()).collect::<Vec<_>>().join(" ")
    }

    /// Renders a command on Kubernetes objects, such as `explain deploy/coredns`.
    pub fn on_objects(&self, command: &str) -> String {
        let mut words = vec![format!("seaworthy {command}")];
        words.extend(self.kubernetes());
        words.join(" ")
    }

    /// Adds to a command of kubectl, talosctl or `verify` what leads it to this cluster.
    pub(crate) fn complete(&self, step: &NextStep) -> NextStep {
        let options =
            |all: Vec<String>| all.into_iter().fold(String::new(), |it, more| it + " " + &more);
        let command = if let Some(rest) = step.command.strip_prefix("kubectl ") {
            format!("kubectl{} {rest}", options(self.kubernetes()))
        } else if let Some(rest) = step.command.strip_prefix("talosctl ") {
            let file = self.talosconfig.as_deref();
            let file = file.map_or(Vec::new(), |file| path_option("--talosconfig", file).into());
            format!("talosctl{} {rest}", options(file))
        } else if let Some(own) = step.command.strip_prefix("seaworthy verify ") {
            self.verify(own)
        } else {
            step.command.clone()
        };
        NextStep { command, tells: step.tells.clone() }
    }

    fn kubernetes(&self) -> Vec<String> {
        let file = self.kubeconfig.as_deref().map(|file| path_option("--kubeconfig", file));
        let context = self.context.as_deref().map(|context| option("--context", context));
        [file, context].into_iter().flatten().flatten().collect()
    }

    fn state_dir(&self) -> Vec<String> {
        self.state_dir.as_deref().map_or(Vec::new(), |it| path_option("--state-dir", it).into())
    }

    /// `seaworthy`, the command's name, the file, and the command's own options.
    fn with_file(&self, command: &str) -> Vec<String> {
        let (name, options) = match command.find(" -") {
            Some(at) => command.split_at(at),
            None => (command, ""),
        };
        let mut words = vec![format!("seaworthy {}", name.trim())];
        words.extend(self.file.as_deref().map(path));
        words.extend((!options.is_empty()).then(|| options.trim().to_owned()));
        words
    }
}

/// Renders a path as an argument. One that begins with a dash would be an option.
fn path(path: &Path) -> String {
    let text = path.display().to_string();
    quoted(&if text.starts_with('-') { format!("./{text}") } else { text })
}

fn path_option(name: &str, value: &Path) -> [String; 2] {
    [name.to_owned(), path(value)]
}

fn option(name: &str, value: &str) -> [String; 2] {
    [name.to_owned(), quoted(value)]
}

/// Quotes an argument where a shell would read it differently.
pub fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invocation_without_options_prints_bare_commands() {
        let bare = Invocation::default();
        assert_eq!(bare.on_cluster("up --until etcd"), "seaworthy up --until etcd");
        assert_eq!(bare.rehearse("--down"), "seaworthy rehearse --down");
        assert_eq!(bare.rehearse(""), "seaworthy rehearse");
        assert_eq!(bare.verify(""), "seaworthy verify");
        assert_eq!(bare.in_state("sim fault"), "seaworthy sim fault");
    }

    #[test]
    fn invocation_repeats_the_file_and_all_that_reaches_the_cluster() {
        let real = Invocation {
            file: Some("my clusters/prod.yaml".into()),
            state_dir: Some("/srv/state".into()),
            cloud: vec![("--cloud-endpoint", "https://127.0.0.1:9/v1".to_owned())],
            ..Invocation::default()
        };
        assert_eq!(
            real.on_cluster("talos gen --out x"),
            "seaworthy talos gen 'my clusters/prod.yaml' --out x \
             --cloud-endpoint https://127.0.0.1:9/v1 --state-dir /srv/state"
        );
        assert_eq!(
            real.rehearse("--down"),
            "seaworthy rehearse 'my clusters/prod.yaml' --down --state-dir /srv/state"
        );
        assert_eq!(real.in_state("report"), "seaworthy report --state-dir /srv/state");
        let rehearsed = Invocation { rehearsal: true, ..real };
        assert_eq!(
            rehearsed.on_cluster("plan"),
            "seaworthy plan 'my clusters/prod.yaml' --rehearsal --state-dir /srv/state"
        );
    }

    #[test]
    fn invocation_completes_what_asks_the_cluster() {
        let given = Invocation {
            kubeconfig: Some("k".into()),
            context: Some("prod".to_owned()),
            talosconfig: Some("t".into()),
            ..Invocation::default()
        };
        let complete = |command: &str| {
            let step = NextStep { command: command.to_owned(), tells: String::new() };
            given.complete(&step).command
        };
        let kubectl = "kubectl --kubeconfig k --context prod -n a get pods";
        assert_eq!(complete("kubectl -n a get pods"), kubectl);
        assert_eq!(complete("talosctl etcd status"), "talosctl --talosconfig t etcd status");
        assert_eq!(complete("seaworthy explain SW0301"), "seaworthy explain SW0301");
        let verify = complete("seaworthy verify --gate api");
        assert!(verify.starts_with("seaworthy verify --gate api --kubeconfig "), "{verify}");
        assert!(verify.ends_with(" --talosconfig t"), "{verify}");
    }

    #[test]
    fn invocation_of_verify_repeats_how_the_cluster_was_reached() {
        let given = Invocation {
            kubeconfig: Some("it's mine".into()),
            context: Some("prod".to_owned()),
            talosconfig: Some("-t".into()),
            ..Invocation::default()
        };
        assert_eq!(
            given.verify("--gate dns"),
            r"seaworthy verify --gate dns --kubeconfig 'it'\''s mine' --context prod --talosconfig ./-t"
        );
        assert_eq!(
            given.on_objects("explain deploy/a"),
            r"seaworthy explain deploy/a --kubeconfig 'it'\''s mine' --context prod"
        );
    }
}
