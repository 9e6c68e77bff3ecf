//! Reading the node's resources.

use std::pin::Pin;

use futures::{Stream, stream};
use talos_proto::cosi::resource::{
    GetRequest, GetResponse, IdQuery, LabelQuery, ListRequest, ListResponse, WatchRequest,
    WatchResponse, state_server::State,
};
use tonic::{Request, Response, Status};

use super::{Api, caller, watch};
use crate::talos::{
    resources::{Wanted, definition},
    server::Caller,
};

type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[tonic::async_trait]
impl State for Api {
    type ListStream = Answers<ListResponse>;
    type WatchStream = Answers<WatchResponse>;

    async fn get(&self, request: Request<GetRequest>) -> Result<Response<GetResponse>, Status> {
        let caller = caller(&request)?;
        let GetRequest { namespace, r#type, id, .. } = request.into_inner();
        may_read(&caller, &r#type)?;
        self.machine.reflect(Wanted::Only(&r#type));
        match self.machine.resources.get(&namespace, &r#type, &id) {
            Some(resource) => Ok(Response::new(GetResponse { resource: Some(resource) })),
            None => Err(Status::not_found(format!(
                "resource {type}({namespace}/{id}@undefined) doesn't exist"
            ))),
        }
    }

    async fn list(
        &self,
        request: Request<ListRequest>,
    ) -> Result<Response<Self::ListStream>, Status> {
        let caller = caller(&request)?;
        let ListRequest { namespace, r#type, options } = request.into_inner();
        may_read(&caller, &r#type)?;
        let options = options.unwrap_or_default();
        without_queries(&options.label_query, options.id_query.as_ref())?;
        self.machine.reflect(Wanted::Only(&r#type));
        let resources = self.machine.resources.list(&namespace, &r#type);
        let answers =
            resources.into_iter().map(|resource| Ok(ListResponse { resource: Some(resource) }));
        Ok(Response::new(Box::pin(stream::iter(answers.collect::<Vec<_>>()))))
    }

    async fn watch(
        &self,
        request: Request<WatchRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let caller = caller(&request)?;
        let request = request.into_inner();
        may_read(&caller, &request.r#type)?;
        let options = request.options.clone().unwrap_or_default();
        without_queries(&options.label_query, options.id_query.as_ref())?;
        if options.tail_events != 0 || options.start_from_bookmark.is_some() {
            return Err(Status::unimplemented("watching from the past is not simulated"));
        }
        let resources = self.machine.resources.watch(&request.namespace, &request.r#type, || {
            self.machine.describe(Wanted::Only(&request.r#type))
        });
        Ok(Response::new(watch::answers(request, resources, caller.stop)))
    }
}

/// Refuses types that the node does not have, and secrets to whoever is not an
/// administrator.
fn may_read(caller: &Caller, kind: &str) -> Result<(), Status> {
    let unknown = || Status::permission_denied(format!("resource type {kind:?} is not supported"));
    if definition(kind).ok_or_else(unknown)?.sensitive && !caller.roles.administer() {
        return Err(Status::permission_denied("not authorized"));
    }
    Ok(())
}

fn without_queries(labels: &[LabelQuery], id: Option<&IdQuery>) -> Result<(), Status> {
    let by_labels = labels.iter().any(|query| !query.terms.is_empty());
    if by_labels || id.is_some_and(|query| !query.regexp.is_empty()) {
        return Err(Status::unimplemented("queries on labels and ids are not simulated"));
    }
    Ok(())
}
