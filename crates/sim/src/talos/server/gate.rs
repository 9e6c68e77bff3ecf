//! Who gets to call what on a connection.

use std::{convert::Infallible, fmt, sync::Arc};

use http::{HeaderMap, Request, Response};
use hyper::body::Incoming;
use tokio_util::sync::CancellationToken;
use tonic::{Code, Status, body::Body, service::Routes};
use tower::ServiceExt;

use super::Shared;
use crate::talos::{
    Dialect,
    node::{Machine, stamped},
    role::Roles,
    tls::Admission,
};

const MACHINE_SERVICE: &str = "/machine.MachineService/";

/// Whoever calls, as the methods see them.
#[derive(Clone, Debug)]
pub(in crate::talos) struct Caller {
    /// What they may do.
    pub(in crate::talos) roles: Roles,
    /// Cuts their connection without another byte.
    pub(in crate::talos) cut: CancellationToken,
    /// Tells that the server is about to stop, for calls that would wait.
    pub(in crate::talos) stop: CancellationToken,
}

/// What a call says of where it comes from.
struct Peer(String);

impl Peer {
    fn of(headers: &HeaderMap) -> Self {
        let said = ["grpc-timeout", "node", "user-agent"].map(|name| {
            let value = headers.get(name).and_then(|value| value.to_str().ok());
            value.map(|value| format!("{name}={value}"))
        });
        Self(said.into_iter().flatten().collect::<Vec<_>>().join(";"))
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Lets the calls of one connection through, or not.
#[derive(Clone)]
pub(super) struct Gate {
    machine: Arc<Machine>,
    routes: Routes,
    caller: Caller,
    server: Server,
}

/// Which program of a node has the port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Server {
    /// The one for both modes since 1.13, and for the second one before.
    Apid,
    /// The one of maintenance mode up to 1.12, which knows one call of the
    /// machine service.
    Machined,
}

impl Server {
    fn of(dialect: Dialect, admission: Admission) -> Self {
        match (dialect, admission) {
            (Dialect::Separate, Admission::Open) => Self::Machined,
            (Dialect::Separate, Admission::Certificate) | (Dialect::Unified, _) => Self::Apid,
        }
    }

    fn serves(self, path: &str) -> bool {
        let known = || !path.starts_with(MACHINE_SERVICE) || path.ends_with("/ApplyConfiguration");
        self == Self::Apid || known()
    }

    /// Returns the name of its log.
    fn name(self) -> &'static str {
        match self {
            Self::Apid => "apid",
            Self::Machined => "machined",
        }
    }
}

impl Gate {
    pub(super) fn new(
        shared: &Shared,
        admission: Admission,
        roles: Roles,
        cut: CancellationToken,
    ) -> Self {
        Self {
            machine: Arc::clone(&shared.machine),
            routes: shared.routes.clone(),
            caller: Caller { roles, cut, stop: shared.stop.clone() },
            server: Server::of(shared.machine.dialect(), admission),
        }
    }

    /// Answers a call.
    pub(super) async fn answer(
        self,
        mut request: Request<Incoming>,
    ) -> Result<Response<Body>, Infallible> {
        let path = request.uri().path().to_owned();
        self.machine.asked(&path);
        let peer = Peer::of(request.headers());
        let answer = match self.admit(&request) {
            Ok(()) => {
                request.extensions_mut().insert(self.caller.clone());
                self.routes.clone().oneshot(request).await?
            }
            Err(status) => status.into_http(),
        };
        self.log(&path, &answer, &peer);
        Ok(answer)
    }

    /// Whoever serves logs every call. How a stream ends is not known here.
    fn log(&self, path: &str, answer: &Response<Body>, peer: &Peer) {
        let code =
            Status::from_header_map(answer.headers()).map_or(Code::Ok, |status| status.code());
        let word = if code == Code::Ok { "OK".to_owned() } else { format!("{code:?}") };
        let roles = &self.caller.roles;
        let line = format!("{word} [{path}] {{parsed roles as {roles}}} ({peer})");
        let now = self.machine.settings.clock.now();
        self.machine.chronicle.log(self.server.name(), &stamped(now, &line));
    }

    fn admit(&self, request: &Request<Incoming>) -> Result<(), Status> {
        self.meant_for_us(request.headers())?;
        if !self.server.serves(request.uri().path()) {
            return Err(Status::unimplemented("API is not implemented in maintenance mode"));
        }
        if self.caller.roles.may_call(request.uri().path()) {
            Ok(())
        } else {
            Err(Status::permission_denied("not authorized"))
        }
    }

    /// Refuses calls that are to be passed on to other nodes: only control
    /// planes would do that, and the simulated ones do not.
    fn meant_for_us(&self, headers: &HeaderMap) -> Result<(), Status> {
        let targets =
            |name| headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
        let mut others =
            targets("node").chain(targets("nodes")).filter(|node| !self.machine.is(node));
        let Some(other) = others.next() else { return Ok(()) };
        if self.machine.state().is_control_plane() {
            let message = format!("passing a call on to {other} is not simulated");
            Err(Status::unimplemented(message))
        } else {
            Err(Status::permission_denied("no request forwarding"))
        }
    }
}
