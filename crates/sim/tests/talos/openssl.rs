//! The same, through the eyes of openssl; a counted skip where it is not installed.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use sim::talos::{API_PORT, Node, Stage};

use crate::{
    secrets::Authority,
    world::{World, eventually},
};

/// An HTTP/2 client's first words: its preface and empty settings.
const HELLO: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00";

/// Talks TLS to a node and returns all that openssl says about it.
async fn s_client(node: &Node, arguments: &[&str]) -> Option<String> {
    let address = format!("{}:{API_PORT}", node.facts().address);
    let mut command = Command::new("openssl");
    command.args(["s_client", "-connect", &address, "-alpn", "h2"]).args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().ok()?;
    let said = tokio::task::spawn_blocking(move || {
        let mut input = child.stdin.take().unwrap();
        // It may have hung up already, which is what we want to read about.
        let _ = input.write_all(HELLO);
        // An alert ends it; a node that is content says nothing more.
        for _ in 0..40 {
            if child.try_wait().unwrap().is_some() {
                break;
            }
            std::thread::park_timeout(std::time::Duration::from_millis(50));
        }
        drop(input);
        child.wait_with_output().unwrap()
    });
    let output = said.await.unwrap();
    let text = [output.stdout, output.stderr].concat();
    Some(String::from_utf8_lossy(&text).into_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn fingerprints_of_both_modes() {
    let world = World::new("openssl");
    let node = world.node("cp-1", [127, 90, 7, 1]);
    node.reaches(Stage::Maintenance).await;
    let Some(said) = s_client(&node, &[]).await else {
        let _: Option<()> = rig::need::skip("openssl is not installed");
        return;
    };
    assert!(said.contains("maintenance-service.talos.dev"), "{said}");
    assert!(said.contains("issuer=\n"), "the issuer has no name: {said}");
    assert!(said.contains("No client certificate CA names sent"), "{said}");
    assert!(said.contains("TLSv1.3") && said.contains("ALPN protocol: h2"), "{said}");
    assert!(!said.contains("New Session Ticket"), "{said}");
    let said = s_client(&node, &["-tls1_2"]).await.unwrap();
    assert!(said.contains("alert number 70"), "{said}");

    world.control_plane(&node).await;
    let said = s_client(&node, &[]).await.unwrap();
    assert!(said.contains("CN = cp-1") || said.contains("CN=cp-1"), "{said}");
    assert!(said.contains("issuer=O = talos") || said.contains("issuer=O=talos"), "{said}");
    assert!(said.contains("Acceptable client certificate CA names"), "{said}");
    assert!(said.contains("alert number 116"), "no certificate: {said}");

    let folder = std::env::temp_dir().join(format!("sim-talos-openssl-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let foreign = Authority::talos().client("os:admin");
    let (certificate, key) = (folder.join("crt"), folder.join("key"));
    std::fs::write(&certificate, &foreign.certificate).unwrap();
    std::fs::write(&key, &foreign.key).unwrap();
    let arguments = ["-cert", certificate.to_str().unwrap(), "-key", key.to_str().unwrap()];
    let said = s_client(&node, &arguments).await.unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(said.contains("alert number 48"), "foreign certificate: {said}");
    let said = s_client(&node, &["-tls1_2"]).await.unwrap();
    assert!(said.contains("alert number 70"), "{said}");
    eventually("a sound node after all that", async || {
        world.admin(&node).await.machine.version(()).await.ok()
    })
    .await;
}
