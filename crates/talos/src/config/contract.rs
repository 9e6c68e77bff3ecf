//! Which form of machine config a version of Talos takes.

/// The first minor version of Talos 1 that is supported.
const OLDEST: u32 = 8;
/// The first minor version whose host name has a document of its own.
const HOSTNAME_DOCUMENT: u32 = 12;
/// The first minor version whose configs have no empty section for the network.
const NO_EMPTY_NETWORK: u32 = 13;
/// The first minor version whose kubelets register with the taints of the config.
const TAINTS_AT_REGISTRATION: u32 = 14;

/// The form of machine config. Later versions of Talos accept those of earlier
/// ones, not the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Contract {
    /// 1.8 to 1.11: one document.
    OneDocument,
    /// 1.12: the host name has a document of its own, and what had become the
    /// only behaviour is not said any more.
    HostnameDocument,
    /// 1.13: as before, and the machine's network is left out where there is
    /// nothing to say about it.
    NoEmptyNetwork,
    /// 1.14 and later: as before, and a worker gets the taints of its machine,
    /// too, because its kubelet registers with them.
    TaintsAtRegistration,
}

/// A version that there is no form for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no machine config for Talos `{0}`, only for v1.8 and later versions of Talos 1")]
pub struct UnsupportedVersion(String);

impl Contract {
    /// Returns the form for a version such as `v1.14.1`.
    pub fn of(version: &str) -> Result<Self, UnsupportedVersion> {
        let minor = version
            .strip_prefix("v1.")
            .and_then(|rest| rest.split('.').next()?.parse::<u32>().ok())
            .filter(|minor| *minor >= OLDEST)
            .ok_or_else(|| UnsupportedVersion(version.to_owned()))?;
        Ok(match minor {
            ..HOSTNAME_DOCUMENT => Self::OneDocument,
            HOSTNAME_DOCUMENT..NO_EMPTY_NETWORK => Self::HostnameDocument,
            NO_EMPTY_NETWORK..TAINTS_AT_REGISTRATION => Self::NoEmptyNetwork,
            TAINTS_AT_REGISTRATION.. => Self::TaintsAtRegistration,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_their_contracts() {
        for version in ["v1.8.0", "v1.9.5", "v1.11.5"] {
            assert_eq!(Contract::of(version), Ok(Contract::OneDocument), "{version}");
        }
        for version in ["v1.12.0", "v1.12.11"] {
            assert_eq!(Contract::of(version), Ok(Contract::HostnameDocument), "{version}");
        }
        for version in ["v1.13.0", "v1.13.6"] {
            assert_eq!(Contract::of(version), Ok(Contract::NoEmptyNetwork), "{version}");
        }
        for version in ["v1.14.1", "v1.14.0-beta.1", "v1.20.3"] {
            assert_eq!(Contract::of(version), Ok(Contract::TaintsAtRegistration), "{version}");
        }
        for version in ["", "1.14.1", "v1.7.6", "v2.0.0", "v1", "v1.x", "latest"] {
            let error = Contract::of(version).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!(
                    "there is no machine config for Talos `{version}`, only for v1.8 and later \
                     versions of Talos 1"
                )
            );
        }
    }
}
