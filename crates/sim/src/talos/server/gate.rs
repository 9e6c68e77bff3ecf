//! Who gets to call what on a connection.

use std::{convert::Infallible, sync::Arc};

use http::{HeaderMap, Request, Response};
use hyper::body::Incoming;
use tokio_util::sync::CancellationToken;
use tonic::{Status, body::Body, service::Routes};
use tower::ServiceExt;

use super::Shared;
use crate::talos::{node::Machine, role::Roles};

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

/// Lets the calls of one connection through, or not.
#[derive(Clone)]
pub(super) struct Gate {
    machine: Arc<Machine>,
    routes: Routes,
    caller: Caller,
}

impl Gate {
    pub(super) fn new(shared: &Shared, roles: Roles, cut: CancellationToken) -> Self {
        Self {
            machine: Arc::clone(&shared.machine),
            routes: shared.routes.clone(),
            caller: Caller { roles, cut, stop: shared.stop.clone() },
        }
    }

    /// Answers a call.
    pub(super) async fn answer(
        self,
        mut request: Request<Incoming>,
    ) -> Result<Response<Body>, Infallible> {
        self.machine.asked(request.uri().path());
        if let Err(status) = self.admit(&request) {
            return Ok(status.into_http());
        }
        request.extensions_mut().insert(self.caller);
        self.routes.oneshot(request).await
    }

    fn admit(&self, request: &Request<Incoming>) -> Result<(), Status> {
        self.meant_for_us(request.headers())?;
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
