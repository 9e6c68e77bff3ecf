//! The names and numbers that a real node insists on.

use prost::Message;
use talos_proto::{cosi, machine, securityapi, storage};

#[test]
fn services_are_named_as_on_the_wire() {
    assert_eq!(machine::machine_service_server::SERVICE_NAME, "machine.MachineService");
    assert_eq!(cosi::resource::state_server::SERVICE_NAME, "cosi.resource.State");
    assert_eq!(storage::storage_service_server::SERVICE_NAME, "storage.StorageService");
    // The one package that is not named after its file.
    assert_eq!(securityapi::security_service_server::SERVICE_NAME, "securityapi.SecurityService");
}

#[test]
fn the_mode_of_a_configuration_is_field_four() {
    use machine::apply_configuration_request::Mode;
    let request = machine::ApplyConfigurationRequest {
        data: b"a".to_vec(),
        mode: Mode::Auto.into(),
        dry_run: true,
        try_mode_timeout: None,
    };
    assert_eq!(request.encode_to_vec(), [0x0a, 1, b'a', 0x20, 1, 0x28, 1]);
}

#[test]
fn an_etcd_member_begins_at_field_two() {
    let member = machine::EtcdMember { id: 300, is_learner: true, ..Default::default() };
    assert_eq!(member.encode_to_vec(), [0x10, 0xac, 0x02, 0x30, 1]);
    let status = machine::EtcdMemberStatus { member_id: 1, leader: 2, ..Default::default() };
    assert_eq!(status.encode_to_vec(), [0x20, 2, 0x50, 1]);
}

#[test]
fn a_resource_says_it_as_yaml_in_field_two() {
    let spec = cosi::resource::Spec { proto_spec: Vec::new(), yaml_spec: "a".to_owned() };
    assert_eq!(spec.encode_to_vec(), [0x12, 1, b'a']);
}
