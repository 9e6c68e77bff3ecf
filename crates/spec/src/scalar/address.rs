//! Addresses: IPv4 networks and hosts, firewall sources, MAC addresses.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

use ipnet::{IpNet, Ipv4Net};
use serde::{Serialize, Serializer};

use super::{Complaint, Format, Json, Scalar};

/// An IPv4 network in canonical form: no bits behind the prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Cidr(Ipv4Net);

/// Who may pass the firewall: a network, or the address this machine is seen with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SourceRange {
    /// The public address of the machine that runs `seaworthy`, looked up at preflight.
    MyIp,
    /// A fixed network, IPv4 or IPv6.
    Net(IpNet),
}

/// A unicast MAC address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mac([u8; 6]);

impl Cidr {
    /// Returns the network that holds `address`, with its host bits cut off.
    ///
    /// # Panics
    /// If the prefix is longer than 32 bits.
    pub fn new(address: Ipv4Addr, prefix: u8) -> Self {
        Self(Ipv4Net::new_assert(address, prefix).trunc())
    }

    /// A network of this crate's own, without host bits.
    pub(crate) const fn assert(octets: [u8; 4], prefix: u8) -> Self {
        let [a, b, c, d] = octets;
        Self(Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix))
    }

    /// The network as `ipnet` has it.
    pub fn net(self) -> Ipv4Net {
        self.0
    }

    /// The length of the prefix.
    pub fn prefix(self) -> u8 {
        self.0.prefix_len()
    }

    /// Whether the two share an address.
    pub fn overlaps(self, other: Self) -> bool {
        self.0.contains(&other.0) || other.0.contains(&self.0)
    }

    /// Whether `other` lies inside.
    pub fn contains(self, other: Self) -> bool {
        self.0.contains(&other.0)
    }

    /// Whether the address lies inside.
    pub fn holds(self, address: Ipv4Addr) -> bool {
        self.0.contains(&address)
    }

    /// The part with this index after cutting into parts of `bits` more bits.
    ///
    /// # Panics
    /// If there is no such part; callers check the prefix first.
    #[must_use]
    pub fn part(self, bits: u8, index: u32) -> Self {
        let prefix = self.prefix() + bits;
        assert!(
            prefix <= 32 && u64::from(index) < 1 << bits,
            "part {index} of {bits} bits of {self}"
        );
        let offset = u64::from(index) << (32 - prefix);
        let offset = u32::try_from(offset).expect("a part starts inside its network");
        Self::new(Ipv4Addr::from(u32::from(self.0.network()) + offset), prefix)
    }

    /// The address with this number, counted from the network address; `None` if outside.
    pub fn host(self, number: u32) -> Option<Ipv4Addr> {
        let address = Ipv4Addr::from(u32::from(self.0.network()).checked_add(number)?);
        self.holds(address).then_some(address)
    }

    /// The number of an address that lies inside.
    pub fn number_of(self, address: Ipv4Addr) -> Option<u32> {
        self.holds(address).then(|| u32::from(address) - u32::from(self.0.network()))
    }

    /// Whether an address inside can belong to a host.
    pub fn is_host(self, address: Ipv4Addr) -> bool {
        self.holds(address) && address != self.0.network() && address != self.0.broadcast()
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Scalar for Cidr {
    const FORMAT: Format = Format {
        name: "an IPv4 network",
        example: "`10.0.0.0/16`",
        json: Json::Text { pattern: r"^([0-9]{1,3}\.){3}[0-9]{1,3}/[0-9]{1,2}$" },
    };

    fn read(text: &str) -> Result<Self, Complaint> {
        match read_net(text)? {
            IpNet::V4(net) => Ok(Self(net)),
            IpNet::V6(_) => {
                Err(Complaint::label("private networks are IPv4 only, such as `10.0.0.0/16`"))
            }
        }
    }

    fn stand_in() -> Self {
        Self::new(Ipv4Addr::new(10, 0, 0, 0), 16)
    }
}

fn read_net(text: &str) -> Result<IpNet, Complaint> {
    if let Ok(address) = text.parse::<IpAddr>() {
        let bits = if address.is_ipv4() { 32 } else { 128 };
        return Err(Complaint::label(format!(
            "a prefix is missing; one address alone is `{address}/{bits}`"
        )));
    }
    let net: IpNet = text.parse().map_err(|_| Complaint::label(malformed_net(text)))?;
    if net.trunc() != net {
        return Err(Complaint::new(
            format!("`{net}` has bits set behind its prefix"),
            format!("the network is `{}`", net.trunc()),
        ));
    }
    Ok(net)
}

fn malformed_net(text: &str) -> String {
    match text.split_once('/') {
        Some((address, _)) if address.parse::<IpAddr>().is_err() => {
            format!("`{}` is not an address", super::format::shortened(address))
        }
        Some((_, prefix)) => {
            format!("`{}` is not a prefix length", super::format::shortened(prefix))
        }
        None => Cidr::FORMAT.expected(),
    }
}

impl Scalar for Ipv4Addr {
    const FORMAT: Format = Format {
        name: "an IPv4 address",
        example: "`10.0.0.11`",
        json: Json::Text { pattern: r"^([0-9]{1,3}\.){3}[0-9]{1,3}$" },
    };

    fn read(text: &str) -> Result<Self, Complaint> {
        text.parse().map_err(|_| match text.split_once('/') {
            Some((address, _)) => {
                Complaint::label(format!("expected one address, without a prefix: `{address}`"))
            }
            None => Complaint::label(Self::FORMAT.expected()),
        })
    }

    fn stand_in() -> Self {
        Self::UNSPECIFIED
    }
}

impl SourceRange {
    /// Whether everybody on the internet is meant.
    pub fn is_everybody(self) -> bool {
        matches!(self, Self::Net(net) if net.prefix_len() == 0)
    }

    /// Reads a source, for flags and questions.
    pub fn parse(text: &str) -> Result<Self, String> {
        <Self as Scalar>::read(text).map_err(|complaint| complaint.label)
    }
}

impl fmt::Display for SourceRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MyIp => f.write_str("my-ip"),
            Self::Net(net) => net.fmt(f),
        }
    }
}

impl Serialize for SourceRange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Scalar for SourceRange {
    const FORMAT: Format = Format {
        name: "a network or `my-ip`",
        example: "`198.51.100.7/32`",
        json: Json::Text { pattern: "^(my-ip|[0-9a-fA-F.:]+/[0-9]{1,3})$" },
    };

    fn read(text: &str) -> Result<Self, Complaint> {
        if text == "my-ip" {
            return Ok(Self::MyIp);
        }
        read_net(text).map(Self::Net).map_err(|complaint| match complaint.label {
            label if label == Cidr::FORMAT.expected() => Complaint::label(Self::FORMAT.expected()),
            _ => complaint,
        })
    }

    fn stand_in() -> Self {
        Self::MyIp
    }
}

impl Mac {
    /// Returns a locally administered address with these last five bytes.
    pub fn local(bytes: [u8; 5]) -> Self {
        let mut address = [0x02; 6];
        address[1..].copy_from_slice(&bytes);
        Self(address)
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs: Vec<String> = self.0.iter().map(|byte| format!("{byte:02X}")).collect();
        f.write_str(&pairs.join(":"))
    }
}

impl Serialize for Mac {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Scalar for Mac {
    const FORMAT: Format = Format {
        name: "a MAC address",
        example: "`BC:24:11:2E:C5:01`",
        json: Json::Text { pattern: "^([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$" },
    };

    fn read(text: &str) -> Result<Self, Complaint> {
        let expected = || Complaint::label(Self::FORMAT.expected());
        let bytes: Vec<u8> = text
            .split(':')
            .map(|pair| {
                let is_pair =
                    pair.len() == 2 && pair.bytes().all(|digit| digit.is_ascii_hexdigit());
                is_pair.then(|| u8::from_str_radix(pair, 16).ok()).flatten()
            })
            .collect::<Option<_>>()
            .ok_or_else(expected)?;
        let bytes: [u8; 6] = bytes.try_into().map_err(|_| expected())?;
        if bytes[0] & 1 == 1 || bytes == [0; 6] {
            return Err(Complaint::label(
                "this is a group address; a network card needs one of its own",
            )
            .note("the lowest bit of the first byte must be 0"));
        }
        Ok(Self(bytes))
    }

    fn stand_in() -> Self {
        Self::local([0; 5])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label<T: Scalar>(text: &str) -> String {
        T::read(text).err().expect("refused").label
    }

    #[test]
    fn networks_say_what_is_wrong() {
        assert!(Cidr::read("10.0.0.0/16").is_ok());
        assert_eq!(label::<Cidr>("10.0.0.5/16"), "the network is `10.0.0.0/16`");
        assert_eq!(
            label::<Cidr>("10.0.0.0"),
            "a prefix is missing; one address alone is `10.0.0.0/32`"
        );
        assert_eq!(label::<Cidr>("10.0.0.0/33"), "`33` is not a prefix length");
        assert_eq!(label::<Cidr>("10.0.0.256/8"), "`10.0.0.256` is not an address");
        assert_eq!(
            label::<Cidr>("fd00::/8"),
            "private networks are IPv4 only, such as `10.0.0.0/16`"
        );
        assert_eq!(label::<Cidr>("ten"), "expected an IPv4 network, such as `10.0.0.0/16`");
    }

    #[test]
    fn parts_of_a_network() {
        let network = Cidr::read("10.0.0.0/16").expect("a network");
        assert_eq!(network.part(3, 2).to_string(), "10.0.64.0/19");
        assert_eq!(network.part(1, 1).to_string(), "10.0.128.0/17");
        assert_eq!(network.part(3, 2).part(6, 1).to_string(), "10.0.64.128/25");
    }

    #[test]
    fn macs_are_unicast() {
        assert_eq!(Mac::read("bc:24:11:2e:c5:01").expect("a MAC").to_string(), "BC:24:11:2E:C5:01");
        assert!(Mac::read("01:00:5E:00:00:01").is_err());
        assert!(Mac::read("BC:24:11:2E:C5").is_err());
        assert!(Mac::read("+C:24:11:2E:C5:01").is_err());
    }

    #[test]
    fn sources() {
        assert_eq!(SourceRange::parse("my-ip"), Ok(SourceRange::MyIp));
        assert!(SourceRange::parse("::/0").expect("a source").is_everybody());
        assert!(SourceRange::parse("198.51.100.7").is_err());
        assert_eq!(
            SourceRange::parse("home"),
            Err("expected a network or `my-ip`, such as `198.51.100.7/32`".to_owned())
        );
    }
}
