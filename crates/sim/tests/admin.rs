//! The owner's side of a world: it works, it is the owner's alone, and nothing
//! of it is seen by clients.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use jiff::Timestamp;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use sim::admin::{Admin, Answer, AskError, Place, Question, ask, serve};
use sim::world::fault::{Cast, FAULTS};
use sim::world::{Settings, World};
use sim::{Clock, Tempo};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

const TOKEN: &str = "token";

struct Owned {
    world: Arc<World>,
    place: Place,
    _admin: Admin,
    _folder: tempfile::TempDir,
}

impl Owned {
    async fn new(number: u8) -> Self {
        let settings = Settings {
            range: format!("127.78.{number}.0/24").parse().unwrap(),
            tempo: Tempo::INSTANT,
            token: TOKEN.to_owned(),
            clock: Clock::new(|| Timestamp::from_second(1_800_000_000).unwrap()),
            seed: 1,
            talos: vec!["v1.14.1".to_owned()],
            tenants: sim::tenants::Knobs::default(),
        };
        let world = Arc::new(World::start(settings).await.unwrap());
        let folder = tempfile::tempdir().unwrap();
        // Far beyond what fits into the address of a socket.
        let deep = folder.path().join("d".repeat(120)).join("e".repeat(120));
        std::fs::create_dir_all(&deep).unwrap();
        let place = Place::new(deep.join("world.sock"));
        let cast =
            Cast { control_planes: vec!["cp-1".to_owned()], workers: vec!["w-1".to_owned()] };
        let admin = serve(place.clone(), Arc::clone(&world), cast).unwrap();
        Self { world, place, _admin: admin, _folder: folder }
    }

    async fn ask(&self, question: Question) -> Result<Answer, AskError> {
        let place = self.place.clone();
        tokio::task::spawn_blocking(move || ask(&place, &question)).await.unwrap()
    }

    async fn struck(&self, question: Question) -> Vec<String> {
        let Answer::Faults { faults } = self.ask(question).await.unwrap() else { panic!() };
        faults.into_iter().filter(|fault| fault.struck).map(|fault| fault.name).collect()
    }

    /// Asks the cloud as a client does, and returns every byte of the answer.
    async fn wire(&self, path: &str) -> String {
        let endpoint = self.world.hetzner().endpoint();
        let address: SocketAddr =
            endpoint.trim_start_matches("https://").trim_end_matches("/v1").parse().unwrap();
        let mut roots = RootCertStore::empty();
        roots
            .add(CertificateDer::from_pem_slice(self.world.authority().as_bytes()).unwrap())
            .unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let stream = TcpStream::connect(address).await.unwrap();
        let name = ServerName::IpAddress(address.ip().into());
        let mut stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap();
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: cloud\r\nAuthorization: Bearer {TOKEN}\r\n\
             Connection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        // Some end without saying goodbye.
        let _ = stream.read_to_end(&mut answer).await;
        String::from_utf8_lossy(&answer).into_owned()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_are_struck_and_mended_while_the_world_runs() {
    let owned = Owned::new(1).await;
    assert!(owned.struck(Question::Faults).await.is_empty());
    let strike = |fault: &str| Question::Strike { fault: fault.to_owned() };
    assert_eq!(owned.struck(strike("node-slow")).await, ["node-slow"]);
    assert_eq!(owned.struck(strike("rate-limited")).await, ["node-slow", "rate-limited"]);
    assert!(owned.wire("/v1/servers").await.contains("429"), "the next calls are refused");
    let mend = Question::Mend { fault: "rate-limited".to_owned() };
    assert_eq!(owned.struck(mend).await, ["node-slow"]);
    assert!(owned.wire("/v1/servers").await.starts_with("HTTP/1.1 200"), "and now they are not");
    let Answer::Counters { counters } = owned.ask(Question::Counters).await.unwrap() else {
        panic!()
    };
    assert_eq!(counters.requests["hetzner"]["GET /servers"], 2);
    assert_eq!((counters.rate_limited, counters.answers_lost), (1, 0));
    assert!(counters.effects.is_empty(), "nobody has changed anything");
    let machines = owned.ask(Question::Machines).await.unwrap();
    assert_eq!(machines, Answer::Machines { machines: Vec::new() });
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_question_is_refused_and_changes_nothing() {
    let owned = Owned::new(2).await;
    let wrong = owned.ask(Question::Strike { fault: "node-fast".to_owned() }).await.unwrap_err();
    assert_eq!(wrong.to_string(), "the world refused: there is no fault node-fast");
    let said = tokio::task::spawn_blocking({
        let place = owned.place.clone();
        move || {
            let mut stream = place.connect().unwrap();
            stream.write_all(b"GET /faults HTTP/1.1\r\n").unwrap();
            let mut said = String::new();
            BufReader::new(stream).read_line(&mut said).unwrap();
            said
        }
    });
    assert!(said.await.unwrap().contains("not a question"));
    assert!(owned.struck(Question::Faults).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_socket_is_the_owners_alone_and_not_shared_by_two_worlds() {
    let owned = Owned::new(3).await;
    let mode = std::fs::metadata(owned.place.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let taken = serve(owned.place.clone(), Arc::clone(&owned.world), Cast::default()).unwrap_err();
    assert_eq!(taken.kind(), std::io::ErrorKind::AddrInUse);
    let left_behind = owned.place.path().with_extension("old");
    drop(Place::new(&left_behind).listen().unwrap());
    let again = serve(Place::new(&left_behind), Arc::clone(&owned.world), Cast::default()).unwrap();
    drop(again);
    assert!(!left_behind.exists(), "its socket goes with it");
}

/// Every fault is struck by name; a client that looks at everything sees none.
#[tokio::test(flavor = "multi_thread")]
async fn no_word_of_the_owner_reaches_a_client() {
    let owned = Owned::new(4).await;
    let listening = listeners(4);
    assert_eq!(listening, 1, "the cloud's API is all that listens");
    for fault in FAULTS {
        owned.struck(Question::Strike { fault: fault.name.to_owned() }).await;
        for path in ["/v1/servers", "/v1/load_balancers", "/v1/images", "/faults", "/v1/admin"] {
            let answer = owned.wire(path).await;
            assert!(!answer.is_empty(), "{}: {path}", fault.name);
            assert!(!answer.contains(fault.name), "{}: {path}: {answer}", fault.name);
            let unknown = path.ends_with("faults") || path.ends_with("admin");
            assert!(!unknown || !answer.starts_with("HTTP/1.1 2"), "{path}: {answer}");
        }
        assert!(owned.struck(Question::Mend { fault: fault.name.to_owned() }).await.is_empty());
    }
    assert_eq!(listeners(4), listening, "and nothing else came to listen");
}

/// Counts the sockets that listen in the range of a world.
fn listeners(number: u8) -> usize {
    let table = std::fs::read_to_string("/proc/self/net/tcp").unwrap();
    // `0104 4E7F`: the address in the order of the machine, then state 0A.
    let is_ours = |line: &&str| {
        let mut words = line.split_whitespace();
        let address = words.nth(1).unwrap_or_default().split(':').next().unwrap_or_default();
        let state = words.nth(1).unwrap_or_default();
        state == "0A" && address.ends_with(&format!("{number:02X}4E7F"))
    };
    table.lines().filter(is_ours).count()
}
