//! A simulated cloud and a client that knows nothing but HTTP.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use ipnet::Ipv4Net;
use jiff::Timestamp;
use rand::SeedableRng;
use rand::rngs::StdRng;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::{Value, json};
use sim::hetzner::{Delays, Hetzner, Machine, Machines, Settings};
use sim::wire::Authority;
use sim::{Clock, Effects, Tempo};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

pub(crate) const TOKEN: &str = "a-token-of-the-test";

/// A cloud, and what the test needs to look at it from both sides.
pub(crate) struct Cloud {
    pub(crate) hetzner: Hetzner,
    pub(crate) effects: Effects,
    pub(crate) machines: Arc<Diary>,
    pub(crate) authority: Authority,
    tls: TlsConnector,
    token: String,
}

/// Writes down what the machines are told.
#[derive(Default)]
pub(crate) struct Diary(Mutex<Vec<(&'static str, Machine)>>);

/// What the cloud said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Machines for Diary {
    fn runs(&self, machine: &Machine) {
        self.0.lock().unwrap().push(("runs", machine.clone()));
    }

    fn stopped(&self, machine: &Machine) {
        self.0.lock().unwrap().push(("stopped", machine.clone()));
    }

    fn gone(&self, machine: &Machine) {
        self.0.lock().unwrap().push(("gone", machine.clone()));
    }
}

impl Diary {
    /// Returns the entries so far: what, and of which server.
    pub(crate) fn entries(&self) -> Vec<(&'static str, String)> {
        let entries = self.0.lock().unwrap();
        entries.iter().map(|(what, machine)| (*what, machine.name.clone())).collect()
    }

    /// Waits until the diary has so many entries, and returns them.
    pub(crate) async fn told(&self, count: usize) -> Vec<(&'static str, String)> {
        while self.entries().len() < count {
            tokio::task::yield_now().await;
        }
        self.entries()
    }

    /// Returns the machine of the last entry.
    pub(crate) fn last(&self) -> Machine {
        self.0.lock().unwrap().last().unwrap().1.clone()
    }
}

impl Said {
    #[track_caller]
    pub(crate) fn ok(self) -> Value {
        assert!(self.status.is_success(), "{self:?}");
        self.body
    }

    /// Returns the error's code, after making sure that it is one.
    #[track_caller]
    pub(crate) fn code(&self) -> &str {
        assert!(self.status.is_client_error() || self.status.is_server_error(), "{self:?}");
        self.body["error"]["code"].as_str().unwrap()
    }
}

/// Starts a cloud in which nothing takes time.
pub(crate) async fn instant() -> Cloud {
    Cloud::start(Tempo::INSTANT, 3600).await
}

/// Starts a cloud in which nothing ends while a test looks.
pub(crate) async fn slow() -> Cloud {
    Cloud::start(Tempo::times(1), 3600).await
}

impl Cloud {
    pub(crate) async fn start(tempo: Tempo, calls_per_hour: u32) -> Self {
        let authority = Authority::new("world").unwrap();
        let (effects, machines) = (Effects::default(), Arc::new(Diary::default()));
        let settings = Settings {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            range: own_range(),
            token: TOKEN.to_owned(),
            tempo,
            delays: Delays::default(),
            calls_per_hour,
            clock: Clock::new(|| Timestamp::from_second(1_800_000_000).unwrap()),
            rng: StdRng::seed_from_u64(7),
            effects: effects.clone(),
            machines: machines.clone(),
        };
        let hetzner = Hetzner::start(settings, &authority).await.unwrap();
        let tls = trusting(&authority);
        Self { hetzner, effects, machines, authority, tls, token: TOKEN.to_owned() }
    }

    pub(crate) fn with_token(mut self, token: &str) -> Self {
        token.clone_into(&mut self.token);
        self
    }

    pub(crate) async fn get(&self, path: &str) -> Said {
        self.call(Method::GET, path, Bytes::new()).await.unwrap()
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Said {
        self.call(Method::POST, path, body.to_string().into()).await.unwrap()
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Said {
        self.call(Method::PUT, path, body.to_string().into()).await.unwrap()
    }

    pub(crate) async fn delete(&self, path: &str) -> Said {
        self.call(Method::DELETE, path, Bytes::new()).await.unwrap()
    }

    /// Orders something and returns it, after its actions have ended.
    pub(crate) async fn order(&self, path: &str, kind: &str, body: Value) -> Value {
        let said = self.post(path, body).await.ok();
        self.finish(&said).await;
        let id = &said[kind]["id"];
        self.get(&format!("{path}/{id}")).await.ok()[kind].clone()
    }

    /// Starts an action and waits for its success.
    pub(crate) async fn act(&self, path: &str, body: Value) {
        let said = self.post(path, body).await.ok();
        self.finish(&said).await;
    }

    /// Waits until all actions of an answer have succeeded.
    pub(crate) async fn finish(&self, said: &Value) {
        for id in actions_in(said) {
            assert_eq!(self.outcome(id).await["status"], "success", "{said}");
        }
    }

    /// Waits until an action has ended, with growing patience: on a discrete
    /// clock, time passes only while nobody has anything to do.
    pub(crate) async fn outcome(&self, id: i64) -> Value {
        let mut pause = Duration::from_millis(1);
        loop {
            let action = self.get(&format!("/actions/{id}")).await.ok()["action"].clone();
            if action["status"] != "running" {
                return action;
            }
            Tempo::times(1).pass(pause).await;
            pause = (pause * 2).min(Duration::from_millis(500));
        }
    }

    /// Sends a request on a connection of its own.
    pub(crate) async fn call(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<Said, Problem> {
        let url = format!("{}{path}", self.hetzner.endpoint());
        let address: SocketAddr = url.split('/').nth(2).unwrap().parse()?;
        let name = ServerName::IpAddress(address.ip().into());
        let stream = self.tls.connect(name, TcpStream::connect(address).await?).await?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        let request = Request::builder()
            .method(method)
            .uri(url.trim_start_matches(&format!("https://{address}")))
            .header(header::HOST, address.to_string())
            .header(header::AUTHORIZATION, format!("Bearer {}", self.token))
            .body(Full::new(body))?;
        let (parts, body) = sender.send_request(request).await?.into_parts();
        let bytes = body.collect().await?.to_bytes();
        let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        Ok(Said { status: parts.status, headers: parts.headers, body })
    }
}

pub(crate) type Problem = Box<dyn std::error::Error + Send + Sync>;

/// The order of a server, to which more can be added.
#[expect(clippy::needless_pass_by_value, reason = "callers write it down in place")]
pub(crate) fn server(name: &str, more: Value) -> Value {
    let mut order = json!({
        "name": name,
        "server_type": "cx23",
        "image": "debian-13",
        "location": "fsn1",
    });
    for (key, value) in more.as_object().unwrap() {
        order[key] = value.clone();
    }
    order
}

fn actions_in(said: &Value) -> Vec<i64> {
    let lists = ["actions", "next_actions"].iter().filter_map(|key| said[key].as_array()).flatten();
    lists.chain([&said["action"]]).filter_map(|action| action["id"].as_i64()).collect()
}

/// Load balancers of parallel tests must not meet.
fn own_range() -> Ipv4Net {
    static NEXT: AtomicU8 = AtomicU8::new(0);
    let second = u8::try_from(64 + std::process::id() % 128).unwrap();
    let third = NEXT.fetch_add(1, Ordering::Relaxed);
    Ipv4Net::new_assert(Ipv4Addr::new(127, second, third, 0), 24)
}

fn trusting(authority: &Authority) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(authority.pem().as_bytes()).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    TlsConnector::from(Arc::new(config))
}
