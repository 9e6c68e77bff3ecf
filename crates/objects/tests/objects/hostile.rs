//! Servers that mean us no good, and plugins that do not either: each is given
//! up at a bound, with words that name it.

use std::time::Duration;

use objects::{Access, AccessError, ApiError, Cluster, Kind, Scope, Trouble};
use peers::bounds;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

const TOKEN: &str = "canary-hunter22";

/// Serves every connection with what `answer` writes for the path of a request.
async fn server<F>(answer: impl Fn(String, TcpStream) -> F + Send + 'static) -> String
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let Ok(byte) = stream.read_u8().await else { break };
                head.push(byte);
            }
            let head = String::from_utf8_lossy(&head).into_owned();
            let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
            tokio::spawn(answer(path, stream));
        }
    });
    format!("http://{address}")
}

fn kubeconfig(server: &str, user: &Value) -> Vec<u8> {
    json!({ "current-context": "it",
        "clusters": [{ "name": "it", "cluster": { "server": server } }],
        "users": [{ "name": "it", "user": user }],
        "contexts": [{ "name": "it", "context": { "cluster": "it", "user": "it" } }] })
    .to_string()
    .into_bytes()
}

fn access(server: &str, user: &Value) -> Access {
    Access::from_kubeconfig(&kubeconfig(server, user), None).unwrap()
}

async fn cluster(server: &str) -> Cluster {
    access(server, &json!({ "token": TOKEN })).connect().await.unwrap()
}

async fn say(mut stream: TcpStream, text: String) {
    let _ = stream.write_all(text.as_bytes()).await;
    let _ = stream.shutdown().await;
}

fn json_answer(body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// Writes `piece` until nobody reads any more.
async fn endlessly(mut stream: TcpStream, head: &str, piece: &[u8]) {
    let _ = stream.write_all(head.as_bytes()).await;
    while stream.write_all(piece).await.is_ok() {}
}

async fn version_error(server: &str) -> ApiError {
    cluster(server).await.version().await.unwrap_err()
}

#[tokio::test]
async fn an_answer_without_end_is_given_up() {
    let piece = vec![b'x'; 1 << 20];
    for (status, most) in [("200 OK", bounds::ANSWER), ("500 Oops", bounds::REFUSAL)] {
        let piece = piece.clone();
        let at = server(move |_, stream| {
            let (head, piece) = (format!("HTTP/1.1 {status}\r\n\r\n"), piece.clone());
            async move { endlessly(stream, &head, &piece).await }
        });
        let error = version_error(&at.await).await;
        assert_eq!(error.trouble(), &Trouble::TooLong { what: "the answer", most }, "{error}");
    }
}

#[tokio::test]
async fn a_head_without_end_and_garbage_are_given_up() {
    let at = server(|_, stream| async move {
        endlessly(stream, "HTTP/1.1 200 OK\r\nX: ", &[b'x'; 4096]).await;
    });
    let told = version_error(&at.await).await.to_string();
    assert!(told.contains("the answer is not HTTP"), "{told}");
    let at = server(|_, stream| say(stream, "SSH-2.0-OpenSSH_9.9\r\n".to_owned()));
    let told = version_error(&at.await).await.to_string();
    assert!(told.contains("the answer is not HTTP"), "{told}");
}

/// Serves `ConfigMaps`, and this page for every list of them.
async fn lists(page: String) -> ApiError {
    let at = server(move |path, stream| {
        let body = match path.split('?').next().unwrap_or_default() {
            "/api" => json!({ "kind": "APIVersions", "versions": ["v1"] }).to_string(),
            "/apis" => json!({ "kind": "APIGroupList", "groups": [] }).to_string(),
            "/api/v1" => json!({ "kind": "APIResourceList", "groupVersion": "v1",
                "resources": [{ "name": "configmaps", "singularName": "configmap",
                    "namespaced": true, "kind": "ConfigMap", "verbs": ["list"] }] })
            .to_string(),
            _ => page.clone(),
        };
        say(stream, json_answer(&body))
    });
    let maps = Scope::all(Kind::new("v1", "ConfigMap").unwrap());
    cluster(&at.await).await.list(&maps).await.unwrap_err()
}

#[tokio::test]
async fn a_list_without_end_or_of_endless_depth_is_given_up() {
    let same = json!({ "metadata": { "resourceVersion": "1", "continue": "same" }, "items": [] });
    let error = lists(same.to_string()).await;
    assert!(matches!(error.trouble(), Trouble::EndlessPages(_)), "{error}");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let error = lists(format!("{{\"metadata\":{{}},\"items\":[{{\"x\":{deep}}}]}}")).await;
    assert!(error.to_string().contains("recursion limit exceeded"), "{error}");
}

#[tokio::test]
async fn a_server_that_drips_is_given_up_when_the_time_is_over() {
    let at = server(|_, mut stream| async move {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
        let mut drip = tokio::time::interval(Duration::from_millis(20));
        while stream.write_all(b" ").await.is_ok() {
            drip.tick().await;
        }
    });
    let end = Instant::now() + Duration::from_millis(300);
    let cluster = cluster(&at.await).await.until(end);
    let told = cluster.version().await.unwrap_err().to_string();
    assert!(told.ends_with("no answer in time"), "{told}");
}

#[tokio::test]
async fn a_redirect_is_named_and_not_followed() {
    let at = server(|_, stream| {
        let to = "https://bob:hunter22@elsewhere.example/login?from=x";
        say(stream, format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n"))
    });
    let told = version_error(&at.await).await.to_string();
    assert!(told.contains("it redirects to https://elsewhere.example/login (302)"), "{told}");
}

#[tokio::test]
async fn an_api_that_echoes_the_credential_does_not_get_it_into_an_error() {
    let at = server(|_, stream| {
        let body = json!({ "kind": "Status", "message": format!("bad token {TOKEN}") }).to_string();
        say(stream, json_answer(&body).replacen("200 OK", "500 Oops", 1))
    });
    let error = version_error(&at.await).await;
    let told = format!("{error} {error:?}");
    assert!(told.contains("bad token «secret") && !told.contains(TOKEN), "{told}");
}

async fn no_credential(user: &Value) -> String {
    let connected = access("http://127.0.0.1:9", user).patience(Duration::from_millis(500));
    match connected.connect().await {
        Err(AccessError::NoCredential { reason, .. }) => reason.to_string(),
        other => panic!("{other:?}"),
    }
}

fn plugin(script: &str) -> Value {
    json!({ "exec": { "apiVersion": "client.authentication.k8s.io/v1", "command": "sh",
        "interactiveMode": "Never", "args": ["-c", script] } })
}

#[tokio::test]
async fn credentials_that_cannot_be_sent_and_plugins_without_end_are_errors() {
    let told = no_credential(&json!({ "token": "hunter22\nX-Evil: 1" })).await;
    assert_eq!(told, "the token of the kubeconfig cannot be sent: it has a line break in it");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, "hunter22\nsecond\n").unwrap();
    let told = no_credential(&json!({ "tokenFile": file })).await;
    assert!(told.ends_with("cannot be sent: it has a line break in it"), "{told}");
    let printed = r#"printf '{"status":{"token":"hunter22\\r\\nX: 1"}}'"#;
    let told = no_credential(&plugin(printed)).await;
    assert_eq!(told, "the token that `sh` printed cannot be sent: it has a line break in it");
    let told = no_credential(&plugin("sleep 60; true")).await;
    assert!(told.contains("`sh`, did not end within"), "{told}");
    let told = no_credential(&plugin("head -c 3000000 /dev/zero")).await;
    assert!(told.contains("it printed more than 1 MiB"), "{told}");
}

#[tokio::test]
async fn a_proxy_of_the_kubeconfig_is_asked_and_its_refusal_is_named() {
    let proxy = server(|_, stream| say(stream, "HTTP/1.1 403 Forbidden\r\n\r\n".to_owned())).await;
    let url = proxy.replace("http://", "http://bob:hunter22@");
    let config = kubeconfig("https://api.example.test:6443", &json!({}));
    let mut config: Value = serde_json::from_slice(&config).unwrap();
    config["clusters"][0]["cluster"]["proxy-url"] = url.into();
    let access = Access::from_kubeconfig(config.to_string().as_bytes(), None).unwrap();
    let error = access.connect().await.unwrap().version().await.unwrap_err().to_string();
    let place = proxy.trim_start_matches("http://");
    let words = format!("the proxy {place} refuses to connect to api.example.test:6443: 403");
    assert!(error.contains(&words) && !error.contains("hunter22"), "{error}");
}

/// A name that only the proxy can resolve.
#[tokio::test]
async fn a_proxy_of_the_kubeconfig_leads_to_the_api() {
    let body = json!({ "gitVersion": "v1.36.3" }).to_string();
    let api = server(move |_, stream| say(stream, json_answer(&body))).await;
    let place = api.trim_start_matches("http://").to_owned();
    let proxy = server(move |_, mut stream| {
        let place = place.clone();
        async move {
            let mut api = TcpStream::connect(place).await.unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
            let _ = tokio::io::copy_bidirectional(&mut stream, &mut api).await;
        }
    });
    let config = kubeconfig("http://api.example.test:6443", &json!({ "token": TOKEN }));
    let mut config: Value = serde_json::from_slice(&config).unwrap();
    config["clusters"][0]["cluster"]["proxy-url"] = proxy.await.into();
    let access = Access::from_kubeconfig(config.to_string().as_bytes(), None).unwrap();
    let version = access.connect().await.unwrap().version().await.unwrap();
    assert_eq!(version.git_version, "v1.36.3");
}
