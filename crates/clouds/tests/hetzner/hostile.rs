//! Servers and proxies that mean us no good: each is given up at a bound, with
//! words that name it.

use std::sync::Arc;
use std::time::Duration;

use clouds::hetzner::{Endpoint, Hetzner, HetznerError, Server, Settings};
use events::{Arrival, Class};
use peers::{Proxies, ProxyVariables, Route, bounds};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use crate::api::{Api, Reply, TOKEN, answer, json};
use crate::wire;

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n";

async fn servers(api: &Api, settings: Settings) -> HetznerError {
    let error = Hetzner::new(settings).unwrap().all::<Server>().await.unwrap_err();
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains(TOKEN) && !shown.contains("hunter22"), "{shown}");
    assert!(api.lines().len() <= 200, "{:?}", api.lines().len());
    error
}

#[tokio::test]
async fn hetzner_gives_up_an_answer_without_end() {
    let api =
        Api::playing([Reply::Endless(HEAD.into(), vec![b' '; 1 << 20], Duration::ZERO)]).await;
    let error = servers(&api, api.settings()).await;
    assert!(matches!(error, HetznerError::TooLong { .. }), "{error:?}");
    assert_eq!((error.class(), error.arrival()), (Class::Permanent, Arrival::Maybe));
    assert_eq!(error.to_string(), "could not list servers: the answer is longer than 8 MiB");
}

#[tokio::test]
async fn hetzner_gives_up_a_head_without_end() {
    let piece = [b"X: ".as_slice(), &[b'x'; 1000], b"\r\n"].concat();
    let api = Api::playing([Reply::Endless(b"HTTP/1.1 200 OK\r\n".into(), piece, Duration::ZERO)]);
    let api = api.await;
    let error = servers(&api, api.settings()).await;
    assert!(matches!(error, HetznerError::Lost { .. }), "{error:?}");
}

#[tokio::test]
async fn hetzner_gives_up_a_list_without_end() {
    let page = |number: u32| {
        let pagination = json!({ "next_page": number + 1, "total_entries": 7 });
        json(200, &json!({ "servers": [], "meta": { "pagination": pagination } }))
    };
    let api = Api::playing((1..=bounds::CLOUD_PAGES + 1).map(page)).await;
    let error = servers(&api, api.settings()).await;
    assert_eq!(error.to_string(), "could not list servers: after 200 pages there are more");
    assert_eq!(error.class(), Class::Permanent);
}

#[tokio::test]
async fn hetzner_gives_up_a_server_that_drips() {
    let drip = Reply::Endless(HEAD.into(), b" ".into(), Duration::from_millis(10));
    let api = Api::playing([drip]).await;
    let settings = Settings { timeout: Duration::from_millis(300), ..api.settings() };
    let error = servers(&api, settings).await;
    assert!(matches!(error, HetznerError::TimedOut { .. }), "{error:?}");
}

#[tokio::test]
async fn hetzner_refuses_json_that_is_nested_too_deep() {
    let deep = format!("{{\"servers\":[{{\"x\":{}{}}}]}}", "[".repeat(9000), "]".repeat(9000));
    let api = Api::playing([answer(200, "Content-Type: application/json\r\n", &deep)]).await;
    let error = servers(&api, api.settings()).await;
    assert!(matches!(error, HetznerError::Unreadable { .. }), "{error:?}");
}

#[tokio::test]
async fn hetzner_names_a_redirect_and_does_not_follow_it() {
    let to = "Location: https://bob:hunter22@login.example/x?from=y\r\n";
    let headers = format!("{to}Content-Type: application/json\r\n");
    let api = Api::playing([answer(302, &headers, "{}")]).await;
    let error = servers(&api, api.settings()).await.to_string();
    let words = "redirects to https://login.example/x (302), which is not followed";
    assert!(error.ends_with(words), "{error}");
    let api = Api::playing([answer(400, "Content-Type: application/json\r\n", "{}")]).await;
    let error = servers(&api, api.settings()).await.to_string();
    assert!(error.contains("but not with an error of the Hetzner API: {}"), "{error}");
}

#[tokio::test]
async fn hetzner_does_not_repeat_a_token_that_comes_back() {
    let said = format!("bad token {TOKEN}");
    for reply in [
        json(401, &wire::error("unauthorized", &said)),
        answer(502, "Content-Type: text/html\r\n", &said),
    ] {
        let api = Api::playing([reply]).await;
        let error = servers(&api, api.settings()).await.to_string();
        assert!(error.contains("bad token «secret"), "{error}");
    }
}

/// A proxy that answers `CONNECT` with a line, and leads on where it is a yes.
async fn proxy(line: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(client.read_u8().await.unwrap());
                }
                let head = String::from_utf8(head).unwrap();
                assert!(head.contains("Proxy-Authorization: Basic Ym9iOmh1bnRlcjIy\r\n"), "{head}");
                client.write_all(format!("{line}\r\n\r\n").as_bytes()).await.unwrap();
                if line.contains("200") {
                    // The name is the certificate's; the proxy knows where it is.
                    let port = head.split([':', ' ']).nth(2).unwrap();
                    let mut server = TcpStream::connect(format!("127.0.0.1:{port}")).await.unwrap();
                    let _ = copy_bidirectional(&mut client, &mut server).await;
                }
            });
        }
    });
    format!("http://bob:hunter22@{address}")
}

fn through(proxy: &str, no: &str) -> Route {
    let variables =
        ProxyVariables { https: Some(proxy.into()), http: None, no: Some(no.to_owned()) };
    Route::Environment(Arc::new(Proxies::of(&variables).unwrap()))
}

/// The settings for a name that only a proxy can resolve.
fn behind(api: &Api, route: Route) -> Settings {
    let endpoint = format!("https://cloud.test:{}/v1", api.address.port());
    Settings { endpoint: Endpoint::parse(&endpoint).unwrap(), route, ..api.settings() }
}

#[tokio::test]
async fn hetzner_is_reached_through_a_proxy_of_the_environment() {
    let api = Api::playing([json(200, &wire::list("servers", &[]))]).await;
    let route = through(&proxy("HTTP/1.1 200 OK").await, "");
    let client = Hetzner::new(behind(&api, route)).unwrap();
    assert_eq!(client.all::<Server>().await.unwrap(), []);
}

#[tokio::test]
async fn hetzner_names_a_proxy_that_fails_and_not_its_password() {
    let api = Api::playing([]).await;
    for (line, words, class) in [
        ("HTTP/1.1 403 Forbidden", "refuses to connect to cloud.test:", Class::Permanent),
        ("HTTP/1.1 407 No", "asks for credentials (407)", Class::Permanent),
        ("HTTP/1.1 502 Bad Gateway", "refuses to connect to cloud.test:", Class::Transient),
        ("SSH-2.0-OpenSSH_9", "its answer is not HTTP", Class::Permanent),
    ] {
        let proxy = proxy(line).await;
        let place = proxy.rsplit_once('@').unwrap().1.to_owned();
        let error = servers(&api, behind(&api, through(&proxy, ""))).await;
        assert_eq!((error.class(), error.arrival()), (class, Arrival::No), "{error}");
        let text = error.to_string();
        assert!(text.contains(&format!("the proxy {place} ")) && text.contains(words), "{text}");
    }
    let nobody = servers(&api, behind(&api, through("http://127.0.0.1:9", ""))).await;
    let text = nobody.to_string();
    let words = "the proxy 127.0.0.1:9 cannot be reached: connection refused by 127.0.0.1:9";
    assert!(text.contains(words), "{text}");
    // Exceptions are dialled directly, where this name means nothing.
    let direct = servers(&api, behind(&api, through("http://127.0.0.1:9", ".test"))).await;
    assert!(matches!(direct, HetznerError::Connect { .. }), "{direct:?}");
}
