//! One life of a node, from power on until something ends it.

use std::{
    error::Error,
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::Arc,
    time::Duration,
};

use thiserror::Error as ThisError;
use tonic::service::Routes;

use super::{Machine, Stage, stamped};
use crate::{
    talos::{
        API_PORT, Knobs, MachineConfig, PkiError, TRUSTD_PORT, api,
        machine_config::PemPair,
        pki::{self, Unsigned},
        server::ApiServer,
        services::ServiceState,
        tls::Tls,
        trustd::{self, Signed, Signer},
    },
    wire,
};

/// When a question that was lost on its way is asked again, in real time.
const ASK_AGAIN: Duration = Duration::from_secs(5);

/// What ends a life before its time.
#[derive(Debug, ThisError)]
pub(super) enum LifeError {
    #[error("could not listen on the node's address: {0}")]
    Listen(io::Error),
    #[error("could not make the node's certificate: {0}")]
    Certificate(#[from] PkiError),
}

impl Machine {
    /// Lives: boots, waits for a configuration where there is none, and runs
    /// what it asks for.
    pub(super) async fn live(self: &Arc<Self>) -> Result<(), LifeError> {
        self.knobs_are(|knobs| !knobs.never_boots).await;
        self.pass(self.settings.delays.boot).await;
        self.change(|state| {
            state.services.healthy("machined");
            state.services.healthy("containerd");
        });
        // To make them takes as long as a handshake, and both servers have the same.
        let routes = api::routes(self);
        let known = self.state().config.clone();
        let config = match known {
            Some(config) => config,
            None => self.maintain(&routes).await?,
        };
        let cluster = self.surroundings.cluster(&config);
        self.change(|state| state.cluster = Some(cluster));
        if !self.is_installed() {
            return self.install(&config, &routes).await;
        }
        tokio::try_join!(self.serve(&config, &routes), self.run(&config))?;
        Ok(())
    }

    /// Waits in maintenance mode for a configuration.
    async fn maintain(self: &Arc<Self>, routes: &Routes) -> Result<Arc<MachineConfig>, LifeError> {
        let delays = &self.settings.delays;
        let now = self.settings.clock.now() + self.knobs.borrow().clock_off_in_maintenance;
        let mut addresses = self.certified_addresses();
        addresses.push(IpAddr::V6(Ipv6Addr::LOCALHOST));
        let tls = Tls::open(pki::maintenance(&self.hostname(), &addresses, now)?)?;
        self.listen(tls, routes)?;
        self.change(|state| {
            state.stage = Stage::Maintenance;
            state.services.healthy("apid");
        });
        self.state_is(|state| state.config.is_some()).await;
        self.pass(delays.accept).await;
        let config = self.state().config.clone().expect("it was there a moment ago");
        if config.is_control_plane() {
            // The old server, which asks nobody for a certificate, presents the
            // new one for a moment: whoever trusts that has not proven anything.
            let identity = self.identity(&config, &self.authority(&config.machine_ca)?)?;
            if let Some(server) = &*self.server() {
                server.present(Tls::open(identity)?);
            }
            self.pass(delays.race_window).await;
        }
        let server = self.server().take();
        if let Some(server) = server {
            server.stop().await;
        }
        self.change(|state| {
            state.stage = Stage::Booting;
            state.services.set("apid", ServiceState::Waiting, "Waiting for api certificates");
        });
        self.pass(delays.swap).await;
        Ok(config)
    }

    /// Serves the API to callers with a certificate of the cluster, without
    /// end, and as the knobs have it.
    pub(super) async fn serve(
        self: &Arc<Self>,
        config: &Arc<MachineConfig>,
        routes: &Routes,
    ) -> Result<(), LifeError> {
        let signed = if config.is_control_plane() {
            self.signed_by_itself(config, &config.machine_ca)?
        } else {
            self.signed_by_trustd(config).await?
        };
        let wrong = |knobs: &Knobs| (knobs.foreign_authority, knobs.loses_client_certificates);
        let mut now = wrong(&self.knobs.borrow());
        self.listen(self.mutual(config, &signed)?, routes)?;
        self.change(|state| state.services.healthy("apid"));
        loop {
            self.knobs_are(|knobs| wrong(knobs) != now).await;
            now = wrong(&self.knobs.borrow());
            let tls = self.mutual(config, &signed)?;
            if let Some(server) = &*self.server() {
                server.present(tls);
            }
        }
    }

    fn mutual(&self, config: &MachineConfig, signed: &Signed) -> Result<Tls, PkiError> {
        let (foreign, deaf) = {
            let knobs = self.knobs.borrow();
            (knobs.foreign_authority, knobs.loses_client_certificates)
        };
        let Signed { identity, authority } = if foreign {
            self.signed_by_itself(config, &self.foreign_authority()?)?
        } else {
            signed.clone()
        };
        Tls::mutual(identity, &authority, deaf)
    }

    /// Signs its own certificate, as a node with the key of an authority does.
    fn signed_by_itself(
        &self,
        config: &MachineConfig,
        authority: &PemPair,
    ) -> Result<Signed, PkiError> {
        let identity = self.identity(config, authority)?;
        Ok(Signed { identity, authority: authority.certificate.clone() })
    }

    /// Asks the control planes for a certificate until one signs.
    async fn signed_by_trustd(&self, config: &MachineConfig) -> Result<Signed, PkiError> {
        let addresses = self.certified_addresses();
        let unsigned = Unsigned::new(&self.hostname(), &self.names(config), &addresses)?;
        let mut signers = self.surroundings.cluster(config).signers();
        loop {
            self.knobs_are(|knobs| !knobs.cut_off).await;
            let now: Vec<_> = signers.borrow_and_update().iter().copied().collect();
            let mut lost = false;
            for address in now {
                match Box::pin(trustd::ask(address, config, &unsigned)).await {
                    Ok(signed) => return Ok(signed),
                    Err(error) => {
                        lost |= error.is_lost();
                        self.unsigned_because(address, &error);
                    }
                }
            }
            // A change comes before the next question, which comes late.
            let change = signers.changed();
            if lost {
                let _ = tokio::time::timeout(ASK_AGAIN, change).await;
            } else {
                let _ = change.await;
            }
            self.pass(self.settings.delays.trustd_poll).await;
        }
    }

    /// Says in the node's log why nobody signed.
    fn unsigned_because(&self, address: Ipv4Addr, error: &dyn Error) {
        let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        let line = format!("failed to sign API server CSR: {address}: {reason}");
        self.chronicle.log("machined", &stamped(self.settings.clock.now(), &line));
    }

    /// Returns the authority that the node goes by instead of the right one.
    fn authority(&self, right: &PemPair) -> Result<PemPair, PkiError> {
        if self.knobs.borrow().foreign_authority {
            self.foreign_authority()
        } else {
            Ok(right.clone())
        }
    }

    /// Returns the authority that is not the cluster's, always the same.
    fn foreign_authority(&self) -> Result<PemPair, PkiError> {
        if let Some(known) = self.foreign.get() {
            return Ok(known.clone());
        }
        let made = pki::foreign_authority(self.settings.clock.now())?;
        Ok(self.foreign.get_or_init(|| made).clone())
    }

    fn identity(
        &self,
        config: &MachineConfig,
        authority: &PemPair,
    ) -> Result<Arc<rustls::sign::CertifiedKey>, PkiError> {
        let (hostname, names) = (self.hostname(), self.names(config));
        let addresses = self.certified_addresses();
        pki::api(authority, &hostname, &names, &addresses, self.settings.clock.now())
    }

    /// Returns the addresses that a certificate of the node is for: it talks to
    /// itself, too.
    fn certified_addresses(&self) -> Vec<IpAddr> {
        let mut addresses = self.addresses();
        addresses.push(IpAddr::V4(Ipv4Addr::LOCALHOST));
        addresses
    }

    /// Returns the names that a certificate of the node is for.
    fn names(&self, config: &MachineConfig) -> Vec<String> {
        config.cert_sans.iter().cloned().chain([self.hostname()]).collect()
    }

    /// Signs the certificates of workers, without end.
    pub(super) async fn sign(&self, config: &MachineConfig) -> Result<(), LifeError> {
        let tls = Tls::open(self.identity(config, &config.machine_ca)?)?;
        let signer = Signer::of(config, &self.settings.clock)?;
        let address = (self.facts.address, TRUSTD_PORT).into();
        let listener = wire::listen(address).map_err(LifeError::Listen)?;
        self.change(|state| state.services.healthy("trustd"));
        self.surroundings.cluster(config).open_trustd(&self.facts);
        trustd::serve(listener, &tls, signer).await;
        Ok(())
    }

    fn listen(self: &Arc<Self>, tls: Tls, routes: &Routes) -> Result<(), LifeError> {
        let address = (self.facts.address, API_PORT).into();
        let listener = wire::listen(address).map_err(LifeError::Listen)?;
        let server = ApiServer::start(listener, tls, routes.clone(), Arc::clone(self));
        *self.server() = Some(server);
        Ok(())
    }
}
