//! Whether a machine config is right only for a machine with one network card.

use serde_json::{Value, json};

use super::MachineConfig;
use crate::yaml::{YamlError, documents};

impl MachineConfig {
    /// Whether it gives an address to whatever real card there is: Talos gives
    /// it to each of them, so the machine may have one only.
    pub fn is_for_a_single_card(&self) -> Result<bool, YamlError> {
        let documents = documents(self.yaml().reveal())?;
        let interfaces =
            documents.iter().filter_map(|it| it.pointer("/machine/network/interfaces"));
        Ok(interfaces.filter_map(Value::as_array).flatten().any(gives_all_cards_an_address))
    }
}

/// DHCP and settings such as the MTU are each card's own; addresses are not.
fn gives_all_cards_an_address(interface: &Value) -> bool {
    let fixed = interface["addresses"].as_array().is_some_and(|addresses| !addresses.is_empty());
    interface["deviceSelector"] == json!({ "physical": true })
        && (fixed || interface["vip"]["ip"].is_string())
}

#[cfg(test)]
mod tests {
    use events::Secret;

    use super::*;

    #[test]
    fn only_an_address_for_every_card_needs_a_single_one() {
        for (interface, expected) in [
            ("deviceSelector: {physical: true}, addresses: [10.0.0.2/24]", true),
            ("deviceSelector: {physical: true}, dhcp: true, vip: {ip: 10.0.0.9}", true),
            ("deviceSelector: {physical: true}, dhcp: true, mtu: 9000", false),
            ("deviceSelector: {physical: true, driver: e1000}, addresses: [10.0.0.2/24]", false),
            ("deviceSelector: {hardwareAddr: '02:*'}, addresses: [10.0.0.2/24]", false),
            ("interface: eth0, addresses: [10.0.0.2/24]", false),
        ] {
            let text = format!("machine: {{network: {{interfaces: [{{{interface}}}]}}}}\n");
            let config = MachineConfig::from_yaml(Secret::new(text));
            assert_eq!(config.is_for_a_single_card(), Ok(expected), "{interface}");
        }
        let without = MachineConfig::from_yaml(Secret::new("machine: {type: worker}\n"));
        assert_eq!(without.is_for_a_single_card(), Ok(false));
    }
}
