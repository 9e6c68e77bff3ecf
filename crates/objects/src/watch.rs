//! Watches that survive what happens to connections.
//!
//! ```text
//!  list ──► Everything ──► watch from there ──► Changed · Gone …
//!    ▲                        │     ▲
//!    └── 410: too old ────────┘     └── ended, cut: go on from the last version
//! ```
//!
//! A watch never sleeps: an error is handed to the caller, who knows how long
//! to pause, and the next call goes on where the last one stood.

use std::collections::VecDeque;

use bytes::Bytes;
use http_body_util::BodyExt;
use kube::client::Body;
use kube::core::Status;
use peers::bounds;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::timeout_at;

use crate::{ApiError, Cluster, Object, Scope, Trouble, Unreachable};

/// After how many seconds the API should end a watch. It ends by itself at a
/// random time from 30 min on, which would leave a dead connection undetected.
const LIFETIME: &str = "290";

/// What a watch saw.
#[derive(Clone, Debug, PartialEq)]
pub enum Sighting {
    /// All there is, at the start and after a gap: whatever is not in here is gone.
    Everything(Vec<Object>),
    /// An object is new or different.
    Changed(Object),
    /// An object is gone; this is its last state.
    Gone(Object),
}

/// A watch over the objects of a scope.
#[derive(Debug)]
pub struct Watch {
    cluster: Cluster,
    scope: Scope,
    tried: String,
    /// The last version that was seen; none before the first list and after a gap.
    from: Option<String>,
    open: Option<Connection>,
    ready: VecDeque<Sighting>,
    /// How many connections in a row have ended without a word.
    mute: u32,
    /// Whether a connection was opened since somebody asked.
    opened: bool,
}

/// A connection on which events arrive, one on a line.
struct Connection {
    body: Body,
    rest: Vec<u8>,
    spoke: bool,
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    event: String,
    object: Value,
}

// === impl Watch ===

impl Cluster {
    /// Watches objects. Nothing is asked before the first [`Watch::next`].
    pub fn watch(&self, scope: Scope) -> Watch {
        Watch {
            cluster: self.clone(),
            tried: format!("watch {scope}"),
            scope,
            from: None,
            open: None,
            ready: VecDeque::new(),
            mute: 0,
            opened: false,
        }
    }

    /// Watches from the moment of a list on: what was in it is not seen again.
    pub fn watch_from(&self, scope: Scope, resource_version: impl Into<String>) -> Watch {
        Watch { from: Some(resource_version.into()), ..self.watch(scope) }
    }
}

impl Watch {
    /// Waits for the next sighting. May be dropped at any moment: nothing is
    /// lost. After an error it can be called again, and goes on.
    pub async fn next(&mut self) -> Result<Sighting, ApiError> {
        loop {
            if let Some(sighting) = self.ready.pop_front() {
                return Ok(sighting);
            }
            let Some(from) = self.from.clone() else {
                let listed = self.cluster.list(&self.scope).await?;
                self.from = Some(listed.resource_version);
                return Ok(Sighting::Everything(listed.objects));
            };
            match &mut self.open {
                None => self.connect(&from).await?,
                Some(_) => self.hear().await?,
            }
        }
    }

    /// Returns whether a list has succeeded: then an error is one of watching.
    pub(crate) fn has_listed(&self) -> bool {
        self.from.is_some()
    }

    /// Returns whether a connection has told anything since this was last asked.
    /// A watch over what does not change is open for hours without a sighting,
    /// and says so every minute; who answers and says nothing may keep it all.
    pub(crate) fn take_opened(&mut self) -> bool {
        std::mem::take(&mut self.opened)
    }

    /// Forgets what was seen: the next sighting is a list.
    pub(crate) fn begin_anew(&mut self) {
        (self.from, self.open) = (None, None);
        self.ready.clear();
    }

    async fn connect(&mut self, from: &str) -> Result<(), ApiError> {
        let resource = self.cluster.resource(self.scope.kind()).await?;
        let ask = self.scope.ask(&resource, "watch");
        self.tried.clone_from(&ask.tried);
        let ask = ask
            .with("watch", "true")
            .with("allowWatchBookmarks", "true")
            .with("timeoutSeconds", LIFETIME)
            .with("resourceVersion", from);
        match self.cluster.stream(&ask).await {
            Ok(body) => {
                self.open = Some(Connection { body, rest: Vec::new(), spoke: false });
            }
            Err(error) if matches!(error.trouble(), Trouble::Expired) => self.from = None,
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Reads what has arrived.
    async fn hear(&mut self) -> Result<(), ApiError> {
        let Some(connection) = &mut self.open else { return Ok(()) };
        let silence = self.cluster.timeouts().silence;
        let until = self.cluster.end_of(silence);
        let heard = match timeout_at(until, connection.body.frame()).await {
            Ok(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
            Ok(Some(Err(error))) => {
                let lost = ApiError::lost(&self.tried, &error);
                return Err(if self.is_mute() {
                    self.heard_nothing(lost)
                } else {
                    self.broken(lost)
                });
            }
            Ok(None) => return self.ended(),
            Err(_) => return Err(self.heard_nothing(ApiError::late(&self.tried))),
        };
        let Ok(lines) = connection.lines(&heard) else {
            let endless = Trouble::TooLong { what: "an event", most: bounds::WATCH_EVENT };
            let error = ApiError::new(&self.tried, endless);
            return Err(self.broken(error));
        };
        self.opened |= !lines.is_empty();
        for line in lines {
            if let Err(trouble) = self.take(&line) {
                // Whoever talks nonsense is not open to us.
                self.opened = false;
                let error = ApiError::new(&self.tried, trouble);
                return Err(self.broken(error));
            }
        }
        Ok(())
    }

    fn broken(&mut self, error: ApiError) -> ApiError {
        self.open = None;
        error
    }

    /// A watch ends after its lifetime; one that ends again and again without
    /// a word is an error, or we would ask in a tight loop.
    fn ended(&mut self) -> Result<(), ApiError> {
        if !self.is_mute() {
            return Ok(());
        }
        let cut = ApiError::new(&self.tried, Trouble::Unreachable(Unreachable::Cut));
        Err(self.heard_nothing(cut))
    }

    /// Closes the connection, and returns whether it was the second in a row
    /// that has said nothing.
    fn is_mute(&mut self) -> bool {
        let spoke = self.open.take().is_some_and(|connection| connection.spoke);
        self.mute = if spoke { 0 } else { self.mute + 1 };
        self.mute >= 2
    }

    /// What has happened meanwhile may have been kept from us by somebody
    /// between: the next look is a list.
    fn heard_nothing(&mut self, error: ApiError) -> ApiError {
        self.mute = 0;
        self.begin_anew();
        error
    }

    fn take(&mut self, line: &[u8]) -> Result<(), Trouble> {
        let garbled = |error: &dyn ToString| Trouble::Garbled(error.to_string());
        let line: Line = serde_json::from_slice(line).map_err(|error| garbled(&error))?;
        if line.event == "ERROR" {
            return self.failed(line.object);
        }
        if let Some(version) = line.object.pointer("/metadata/resourceVersion") {
            self.from = version.as_str().map(str::to_owned);
        }
        let read = |body| Object::of_kind(self.scope.kind(), body).map_err(|error| garbled(&error));
        match line.event.as_str() {
            "ADDED" | "MODIFIED" => self.ready.push_back(Sighting::Changed(read(line.object)?)),
            "DELETED" => self.ready.push_back(Sighting::Gone(read(line.object)?)),
            // A bookmark only says how far we are.
            _ => {}
        }
        Ok(())
    }

    fn failed(&mut self, status: Value) -> Result<(), Trouble> {
        let status: Status = serde_json::from_value(status).unwrap_or_default();
        match Trouble::of_status(status.code, None, &status) {
            Trouble::Expired => {
                (self.from, self.open) = (None, None);
                Ok(())
            }
            trouble => Err(trouble),
        }
    }
}

// === impl Connection ===

impl Connection {
    /// Returns the lines that are whole now. Only what is new is searched for
    /// the end of one.
    fn lines(&mut self, heard: &Bytes) -> Result<Vec<Vec<u8>>, Endless> {
        let end = heard.iter().rposition(|byte| *byte == b'\n');
        let (whole, rest) = heard.split_at(end.map_or(0, |end| end + 1));
        let mut lines = Vec::new();
        if end.is_some() {
            self.spoke = true;
            let mut whole = [std::mem::take(&mut self.rest).as_slice(), whole].concat();
            whole.pop();
            let all = whole.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            lines = all.map(<[u8]>::to_vec).collect();
        }
        self.rest.extend_from_slice(rest);
        let too_long = |line: &Vec<u8>| line.len() > bounds::WATCH_EVENT;
        if lines.iter().chain([&self.rest]).any(too_long) { Err(Endless) } else { Ok(lines) }
    }
}

/// A line without an end.
#[derive(Debug, PartialEq)]
struct Endless;

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("spoke", &self.spoke).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_may_arrive_in_pieces() {
        let mut connection = Connection { body: Body::empty(), rest: Vec::new(), spoke: false };
        let mut hear =
            |text: &'static str| connection.lines(&Bytes::from_static(text.as_bytes())).unwrap();
        assert!(hear("{\"a\":").is_empty());
        assert_eq!(hear("1}\n{\"b\":2}\n{\"c\""), [b"{\"a\":1}".to_vec(), b"{\"b\":2}".to_vec()]);
        assert_eq!(hear(":3}\n\n"), [b"{\"c\":3}".to_vec()]);
    }

    #[test]
    fn a_line_without_an_end_is_given_up() {
        let mut connection = Connection { body: Body::empty(), rest: Vec::new(), spoke: false };
        let piece = Bytes::from(vec![b'x'; 1 << 20]);
        for _ in 0..16 {
            assert_eq!(connection.lines(&piece), Ok(Vec::new()));
        }
        assert_eq!(connection.lines(&piece), Err(Endless));
    }
}
