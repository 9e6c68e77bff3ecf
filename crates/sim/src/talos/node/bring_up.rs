//! One life of a node, from power on until something ends it.

use std::{io, sync::Arc};

use thiserror::Error;
use tokio::net::TcpListener;

use super::{Machine, Stage};
use crate::talos::{
    API_PORT, Knobs, MachineConfig, PkiError, api, machine_config::PemPair, pki, server::ApiServer,
    services::ServiceState, tls::Tls,
};

/// What ends a life before its time.
#[derive(Debug, Error)]
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
        let known = self.state().config.clone();
        let config = match known {
            Some(config) => config,
            None => self.maintain().await?,
        };
        let cluster = self.surroundings.cluster(&config);
        self.change(|state| state.cluster = Some(cluster));
        if !self.is_installed() {
            return self.install(&config).await;
        }
        tokio::try_join!(self.serve(&config), self.run(&config))?;
        Ok(())
    }

    /// Waits in maintenance mode for a configuration.
    async fn maintain(self: &Arc<Self>) -> Result<Arc<MachineConfig>, LifeError> {
        let delays = &self.settings.delays;
        self.listen(Tls::open(pki::maintenance(&self.addresses(), self.settings.clock.now())?)?)
            .await?;
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
    ) -> Result<(), LifeError> {
        let signed = if config.is_control_plane() {
            config.machine_ca.clone()
        } else {
            self.signed_by_trustd(config).await
        };
        let wrong = |knobs: &Knobs| (knobs.foreign_authority, knobs.loses_client_certificates);
        let mut now = wrong(&self.knobs.borrow());
        self.listen(self.mutual(config, &signed)?).await?;
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

    fn mutual(&self, config: &MachineConfig, signed: &PemPair) -> Result<Tls, PkiError> {
        let authority = self.authority(signed)?;
        let identity = self.identity(config, &authority)?;
        let deaf = self.knobs.borrow().loses_client_certificates;
        Tls::mutual(identity, &authority.certificate, deaf)
    }

    /// Asks the control planes for a certificate until one answers.
    async fn signed_by_trustd(&self, config: &MachineConfig) -> PemPair {
        let cluster = self.surroundings.cluster(config);
        let mut changes = cluster.signers();
        let key = loop {
            changes.mark_unchanged();
            self.knobs_are(|knobs| !knobs.cut_off).await;
            if let Some(key) = cluster.ask_trustd(config) {
                break key;
            }
            // A change comes before the next question, which comes late.
            let _ = changes.changed().await;
            self.pass(self.settings.delays.trustd_poll).await;
        };
        PemPair { key: Some(key), ..config.machine_ca.clone() }
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
        let hostname = self.hostname();
        let mut names = config.cert_sans.clone();
        names.push(hostname.clone());
        pki::api(authority, &hostname, &names, &self.addresses(), self.settings.clock.now())
    }

    async fn listen(self: &Arc<Self>, tls: Tls) -> Result<(), LifeError> {
        let address = (self.facts.address, API_PORT);
        let listener = TcpListener::bind(address).await.map_err(LifeError::Listen)?;
        let server = ApiServer::start(listener, tls, api::routes(self), Arc::clone(self));
        *self.server() = Some(server);
        Ok(())
    }
}
