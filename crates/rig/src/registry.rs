//! A loopback image registry: the pulling half of the OCI distribution API.

use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming};
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::net::TcpListener;

use crate::image::{Blob, Image};
use crate::serving::Serving;

/// A registry that serves images from memory; dropping it stops it.
#[derive(Debug)]
pub struct Registry {
    serving: Serving,
    shelf: Arc<Shelf>,
}

#[derive(Debug)]
struct Shelf {
    images: Vec<Image>,
    blobs_served: AtomicUsize,
}

impl Registry {
    /// Serves images. Their names are paths with a tag, such as `demo/web:v1`.
    pub fn start(images: Vec<Image>) -> io::Result<Self> {
        Self::start_at(SocketAddr::from(([127, 0, 0, 1], 0)), images)
    }

    /// Serves images at an address, such as that of a bridge.
    pub fn start_at(address: SocketAddr, images: Vec<Image>) -> io::Result<Self> {
        let shelf = Arc::new(Shelf { images, blobs_served: AtomicUsize::new(0) });
        let served = Arc::clone(&shelf);
        let serving = Serving::start_at(address, move |listener| serve(listener, served))?;
        Ok(Self { serving, shelf })
    }

    /// Returns the address, as image names begin with it.
    pub fn host(&self) -> String {
        self.serving.address().to_string()
    }

    /// Returns the full name under which an image is pulled.
    pub fn reference(&self, name: &str) -> String {
        format!("{}/{name}", self.host())
    }

    /// Returns how many blobs were served: zero means that nobody pulled.
    pub fn blobs_served(&self) -> usize {
        self.shelf.blobs_served.load(Ordering::Relaxed)
    }
}

async fn serve(listener: TcpListener, shelf: Arc<Shelf>) {
    while let Ok((stream, _)) = listener.accept().await {
        let shelf = Arc::clone(&shelf);
        tokio::spawn(async move {
            let service = service_fn(|request: Request<Incoming>| {
                let response = shelf.answer(request.method(), request.uri().path());
                std::future::ready(Ok::<_, Infallible>(response))
            });
            let server = auto::Builder::new(TokioExecutor::new());
            // A client that hangs up is not our concern.
            let _ = server.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

impl Shelf {
    fn answer(&self, method: &Method, path: &str) -> Response<Contents> {
        if method != Method::GET && method != Method::HEAD {
            return error(
                StatusCode::METHOD_NOT_ALLOWED,
                "UNSUPPORTED",
                "this registry only serves pulls",
            );
        }
        if path == "/v2/" || path == "/v2" {
            let nothing = Blob::Memory(b"{}".to_vec());
            return respond(method, "application/json", "sha256:none", &nothing);
        }
        let parts = path.strip_prefix("/v2/").unwrap_or_default();
        if let Some((name, reference)) = parts.rsplit_once("/manifests/") {
            return self.manifest(method, name, reference);
        }
        if let Some((name, digest)) = parts.rsplit_once("/blobs/") {
            return self.blob(method, name, digest);
        }
        error(StatusCode::NOT_FOUND, "NAME_UNKNOWN", path)
    }

    fn manifest(&self, method: &Method, name: &str, reference: &str) -> Response<Contents> {
        let wanted = format!("{name}:{reference}");
        let found = self
            .of(name)
            .find(|image| image.name() == wanted || image.digest() == reference)
            .and_then(|image| Some((image.digest(), image.blob(image.digest())?)));
        match found {
            Some((digest, manifest)) => {
                respond(method, "application/vnd.oci.image.manifest.v1+json", digest, manifest)
            }
            None => error(StatusCode::NOT_FOUND, "MANIFEST_UNKNOWN", &wanted),
        }
    }

    fn blob(&self, method: &Method, name: &str, digest: &str) -> Response<Contents> {
        let Some(blob) = self.of(name).find_map(|image| image.blob(digest)) else {
            return error(StatusCode::NOT_FOUND, "BLOB_UNKNOWN", digest);
        };
        if method == Method::GET {
            self.blobs_served.fetch_add(1, Ordering::Relaxed);
        }
        respond(method, "application/octet-stream", digest, blob)
    }

    fn of(&self, name: &str) -> impl Iterator<Item = &Image> {
        let of_name = move |image: &&Image| {
            image.name().rsplit_once(':').is_some_and(|(path, _)| path == name)
        };
        self.images.iter().filter(of_name)
    }
}

fn respond(method: &Method, media: &str, digest: &str, blob: &Blob) -> Response<Contents> {
    let contents =
        if method == Method::HEAD { Ok(Contents::default()) } else { Contents::of(blob) };
    let contents = match contents {
        Ok(contents) => contents,
        Err(cause) => {
            return error(StatusCode::INTERNAL_SERVER_ERROR, "UNKNOWN", &cause.to_string());
        }
    };
    Response::builder()
        .header(CONTENT_TYPE, media)
        .header(CONTENT_LENGTH, blob.size())
        .header("Docker-Content-Digest", digest)
        .header("Docker-Distribution-Api-Version", "registry/2.0")
        .body(contents)
        .expect("all parts are valid headers")
}

fn error(status: StatusCode, code: &str, message: &str) -> Response<Contents> {
    let body = serde_json::json!({ "errors": [{ "code": code, "message": message }] });
    Response::builder()
        .status(status)
        .header(CONTENT_TYPE, "application/json")
        .body(Contents { rest: Some(Rest::Memory(Bytes::from(body.to_string()))) })
        .expect("all parts are valid headers")
}

/// What a response carries, piece by piece where it is a file.
#[derive(Debug, Default)]
struct Contents {
    rest: Option<Rest>,
}

#[derive(Debug)]
enum Rest {
    Memory(Bytes),
    File(File),
}

impl Contents {
    fn of(blob: &Blob) -> io::Result<Self> {
        let rest = match blob {
            Blob::Memory(bytes) => Rest::Memory(Bytes::copy_from_slice(bytes)),
            Blob::File { path, .. } => Rest::File(File::open(path)?),
        };
        Ok(Self { rest: Some(rest) })
    }
}

impl Body for Contents {
    type Data = Bytes;
    type Error = io::Error;

    /// Reads the next piece. The read blocks, but the thread has nothing else
    /// to do than to serve, and the file was written moments ago.
    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let piece = match self.rest.take() {
            None => return Poll::Ready(None),
            Some(Rest::Memory(bytes)) => bytes,
            Some(Rest::File(mut file)) => {
                let mut piece = vec![0; 256 * 1024];
                let read = file.read(&mut piece)?;
                if read == 0 {
                    return Poll::Ready(None);
                }
                piece.truncate(read);
                self.rest = Some(Rest::File(file));
                piece.into()
            }
        };
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shelf() -> (Shelf, String) {
        let dir = tempfile::tempdir().unwrap();
        let binary = dir.path().join("web");
        std::fs::write(&binary, "a static binary").unwrap();
        let image = Image::pack("demo/web:v1", &binary).unwrap();
        let digest = image.digest().to_owned();
        (Shelf { images: vec![image], blobs_served: AtomicUsize::new(0) }, digest)
    }

    #[test]
    fn a_manifest_is_found_by_tag_and_by_digest() {
        let (shelf, digest) = shelf();
        for reference in ["v1", digest.as_str()] {
            let path = format!("/v2/demo/web/manifests/{reference}");
            let response = shelf.answer(&Method::HEAD, &path);
            assert_eq!(response.status(), StatusCode::OK, "{path}");
            assert_eq!(response.headers()["docker-content-digest"], digest.as_str());
        }
    }

    #[test]
    fn what_is_not_there_says_so() {
        let (shelf, digest) = shelf();
        let status = |path: &str| shelf.answer(&Method::GET, path).status();
        assert_eq!(status("/v2/"), StatusCode::OK);
        assert_eq!(status("/v2/demo/web/manifests/v2"), StatusCode::NOT_FOUND);
        assert_eq!(status(&format!("/v2/other/blobs/{digest}")), StatusCode::NOT_FOUND);
        assert_eq!(status("/v1/search"), StatusCode::NOT_FOUND);
        let push = shelf.answer(&Method::POST, "/v2/demo/web/blobs/uploads/");
        assert_eq!(push.status(), StatusCode::METHOD_NOT_ALLOWED);
    }
}
