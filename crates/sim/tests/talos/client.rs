//! A raw client: rustls and tonic, nothing of ours but the protocol.

use std::{io, sync::Arc, time::Duration};

use hyper_util::rt::TokioIo;
use rustls::{
    ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject},
    version::TLS13,
};
use sim::talos::{API_PORT, Node};
use talos_proto::{
    cosi::resource::{GetRequest, ListRequest, state_client::StateClient},
    machine::{
        ApplyConfiguration, ApplyConfigurationRequest, BootstrapRequest, EtcdMember,
        EtcdMemberListRequest, EtcdMemberStatus, ServiceInfo, apply_configuration_request::Mode,
        machine_service_client::MachineServiceClient,
    },
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_rustls::TlsConnector;
use tonic::{
    Status,
    transport::{Channel, Endpoint},
};
use tower::service_fn;

use crate::secrets::{Authority, Pair};

/// A connection to one node.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) machine: MachineServiceClient<Channel>,
    pub(crate) state: StateClient<Channel>,
    pub(crate) channel: Channel,
}

impl Client {
    /// Trusts everybody and shows no certificate.
    pub(crate) async fn insecure(node: &Node) -> Result<Self, tonic::transport::Error> {
        Self::connect(node, insecure()).await
    }

    /// Trusts the authority and shows a certificate.
    pub(crate) async fn mutual(
        node: &Node,
        authority: &Authority,
        pair: &Pair,
    ) -> Result<Self, tonic::transport::Error> {
        Self::connect(node, mutual(Some(authority), pair)).await
    }

    pub(crate) async fn connect(
        node: &Node,
        tls: ClientConfig,
    ) -> Result<Self, tonic::transport::Error> {
        let (address, tls) = (node.facts().address, Arc::new(tls));
        let connector = service_fn(move |_| {
            let tls = TlsConnector::from(Arc::clone(&tls));
            async move {
                let stream = TcpStream::connect((address, API_PORT)).await?;
                stream.set_nodelay(true)?;
                let name = ServerName::IpAddress(std::net::IpAddr::V4(address).into());
                io::Result::Ok(TokioIo::new(tls.connect(name, stream).await?))
            }
        });
        let endpoint = Endpoint::from_shared(format!("http://{address}:{API_PORT}")).unwrap();
        let channel = endpoint.connect_with_connector(connector).await?;
        Ok(Self {
            machine: MachineServiceClient::new(channel.clone()),
            state: StateClient::new(channel.clone()),
            channel,
        })
    }

    pub(crate) async fn apply(&mut self, config: &str) -> Result<ApplyConfiguration, Status> {
        self.apply_with(config, Mode::Auto, false).await
    }

    pub(crate) async fn apply_with(
        &mut self,
        config: &str,
        mode: Mode,
        dry_run: bool,
    ) -> Result<ApplyConfiguration, Status> {
        let request = ApplyConfigurationRequest {
            data: config.as_bytes().to_vec(),
            mode: mode.into(),
            dry_run,
            try_mode_timeout: None,
        };
        let answer = self.machine.apply_configuration(request).await?.into_inner();
        Ok(answer.messages.into_iter().next().unwrap())
    }

    pub(crate) async fn bootstrap(&mut self) -> Result<(), Status> {
        self.machine.bootstrap(BootstrapRequest::default()).await.map(drop)
    }

    pub(crate) async fn service(&mut self, name: &str) -> Option<ServiceInfo> {
        let answer = self.machine.service_list(()).await.unwrap().into_inner();
        answer.messages[0].services.iter().find(|service| service.id == name).cloned()
    }

    /// Asks for the members, for at most so long.
    pub(crate) async fn members(&mut self, patience: Duration) -> Result<Vec<EtcdMember>, Status> {
        let asked = self.machine.etcd_member_list(EtcdMemberListRequest::default());
        match tokio::time::timeout(patience, asked).await {
            Ok(answer) => Ok(answer?.into_inner().messages.remove(0).members),
            Err(_) => Err(Status::deadline_exceeded("no answer")),
        }
    }

    pub(crate) async fn etcd_status(&mut self) -> EtcdMemberStatus {
        let mut answer = self.machine.etcd_status(()).await.unwrap().into_inner();
        answer.messages.remove(0).member_status.unwrap()
    }

    /// Reads the YAML of a resource.
    pub(crate) async fn get(
        &mut self,
        namespace: &str,
        kind: &str,
        id: &str,
    ) -> Result<String, Status> {
        let request = GetRequest {
            namespace: namespace.to_owned(),
            r#type: kind.to_owned(),
            id: id.to_owned(),
            options: None,
        };
        let resource = self.state.get(request).await?.into_inner().resource.unwrap();
        Ok(resource.spec.unwrap().yaml_spec)
    }

    /// Reads the ids of all resources of a type.
    pub(crate) async fn list(
        &mut self,
        namespace: &str,
        kind: &str,
    ) -> Result<Vec<String>, Status> {
        let request =
            ListRequest { namespace: namespace.to_owned(), r#type: kind.to_owned(), options: None };
        let mut answers = self.state.list(request).await?.into_inner();
        let mut ids = Vec::new();
        while let Some(answer) = answers.message().await? {
            ids.push(answer.resource.unwrap().metadata.unwrap().id);
        }
        Ok(ids)
    }

    /// Reads the machine's status as YAML.
    pub(crate) async fn machine_status(&mut self) -> String {
        self.get("runtime", "MachineStatuses.runtime.talos.dev", "machine").await.unwrap()
    }
}

/// Shakes hands, says hello and listens: in TLS 1.3 a client learns only then
/// that its certificate was not liked.
pub(crate) async fn probe(node: &Node, tls: ClientConfig) -> io::Result<usize> {
    let address = node.facts().address;
    let stream = TcpStream::connect((address, API_PORT)).await?;
    let name = ServerName::IpAddress(std::net::IpAddr::V4(address).into());
    let mut stream = TlsConnector::from(Arc::new(tls)).connect(name, stream).await?;
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await?;
    stream.read(&mut [0; 64]).await
}

/// TLS that trusts everybody and shows no certificate.
pub(crate) fn insecure() -> ClientConfig {
    settle(
        builder()
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Trusting))
            .with_no_client_auth(),
    )
}

/// TLS that trusts an authority and shows no certificate.
pub(crate) fn trusting(authority: &Authority) -> ClientConfig {
    settle(builder().with_root_certificates(roots(authority)).with_no_client_auth())
}

/// TLS that shows a certificate, and trusts the authority or everybody.
pub(crate) fn mutual(authority: Option<&Authority>, pair: &Pair) -> ClientConfig {
    let chain = CertificateDer::pem_slice_iter(pair.certificate.as_bytes());
    let chain = chain.collect::<Result<_, _>>().unwrap();
    let key = PrivateKeyDer::from_pem_slice(pair.key.as_bytes()).unwrap();
    let config = match authority {
        Some(authority) => {
            builder().with_root_certificates(roots(authority)).with_client_auth_cert(chain, key)
        }
        None => builder()
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Trusting))
            .with_client_auth_cert(chain, key),
    };
    settle(config.unwrap())
}

fn roots(authority: &Authority) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    let root = CertificateDer::from_pem_slice(authority.certificate.as_bytes()).unwrap();
    roots.add(root).unwrap();
    roots
}

fn builder() -> rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier> {
    ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&TLS13])
        .unwrap()
}

fn settle(mut config: ClientConfig) -> ClientConfig {
    config.alpn_protocols = vec![b"h2".to_vec()];
    config
}

/// Believes every certificate.
#[derive(Debug)]
struct Trusting;

impl ServerCertVerifier for Trusting {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        ring::default_provider().signature_verification_algorithms.supported_schemes()
    }
}
