//! Where Hetzner has machines, and which.

use std::fmt;

use serde::Serialize;

use super::{Complaint, Format, Json, Scalar, Word};

/// A location of Hetzner Cloud.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the variants are Hetzner's own location names")]
pub enum Location {
    Fsn1,
    Nbg1,
    Hel1,
    Ash,
    Hil,
    Sin,
}

/// A group of locations that one private network can span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the variants are Hetzner's own zone names")]
pub enum NetworkZone {
    EuCentral,
    UsEast,
    UsWest,
    ApSoutheast,
}

/// A server type such as `cax11`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct ServerType(String);

/// A load balancer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the variants are Hetzner's own type names")]
pub enum LoadBalancerType {
    Lb11,
    Lb21,
    Lb31,
}

/// The instruction set of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Architecture {
    /// x86-64.
    Amd64,
    /// 64-bit Arm.
    Arm64,
}

impl Location {
    /// The zone whose networks reach it.
    pub fn zone(self) -> NetworkZone {
        match self {
            Self::Fsn1 | Self::Nbg1 | Self::Hel1 => NetworkZone::EuCentral,
            Self::Ash => NetworkZone::UsEast,
            Self::Hil => NetworkZone::UsWest,
            Self::Sin => NetworkZone::ApSoutheast,
        }
    }
}

impl Word for Location {
    const WHAT: &'static str = "location";
    const ALL: &'static [Self] =
        &[Self::Fsn1, Self::Nbg1, Self::Hel1, Self::Ash, Self::Hil, Self::Sin];
    const WORDS: &'static [&'static str] = &["fsn1", "nbg1", "hel1", "ash", "hil", "sin"];
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl fmt::Display for NetworkZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::EuCentral => "eu-central",
            Self::UsEast => "us-east",
            Self::UsWest => "us-west",
            Self::ApSoutheast => "ap-southeast",
        })
    }
}

impl Word for LoadBalancerType {
    const WHAT: &'static str = "load balancer type";
    const ALL: &'static [Self] = &[Self::Lb11, Self::Lb21, Self::Lb31];
    const WORDS: &'static [&'static str] = &["lb11", "lb21", "lb31"];
}

impl fmt::Display for LoadBalancerType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl Word for Architecture {
    const WHAT: &'static str = "architecture";
    const ALL: &'static [Self] = &[Self::Amd64, Self::Arm64];
    const WORDS: &'static [&'static str] = &["amd64", "arm64"];
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl ServerType {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The instruction set: Hetzner's `cax` line is Arm, the others are x86.
    pub fn architecture(&self) -> Architecture {
        if self.0.starts_with("cax") { Architecture::Arm64 } else { Architecture::Amd64 }
    }

    /// Reads a server type, for flags and questions.
    pub fn parse(text: &str) -> Result<Self, String> {
        <Self as Scalar>::read(text).map_err(|complaint| complaint.label)
    }
}

impl fmt::Display for ServerType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Scalar for ServerType {
    const FORMAT: Format = Format {
        name: "a server type",
        example: "`cax11` or `cx33`",
        json: Json::Text { pattern: "^(cx|cpx|cax|ccx)[0-9]+$" },
    };

    /// Checks the form only: which types exist where is asked of the cloud at preflight.
    fn read(text: &str) -> Result<Self, Complaint> {
        let line = text.trim_end_matches(|c: char| c.is_ascii_digit());
        if ["cx", "cpx", "cax", "ccx"].contains(&line) && line.len() < text.len() {
            return Ok(Self(text.to_owned()));
        }
        Err(Complaint::label(Self::FORMAT.expected()))
    }

    fn stand_in() -> Self {
        Self("cax11".to_owned())
    }
}
