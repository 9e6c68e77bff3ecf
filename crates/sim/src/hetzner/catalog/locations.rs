//! Where servers can stand.

use serde_json::{Value, json};

use super::Entry;

/// A location.
#[derive(Debug, PartialEq)]
pub(crate) struct Location {
    id: i64,
    pub(crate) name: &'static str,
    description: &'static str,
    country: &'static str,
    city: &'static str,
    latitude: f64,
    longitude: f64,
    pub(crate) network_zone: &'static str,
}

pub(crate) static LOCATIONS: [Location; 6] = [
    place(1, "fsn1", "Falkenstein DC Park 1", "DE", "Falkenstein", (50.476_12, 12.370_071), EU),
    place(2, "nbg1", "Nuremberg DC Park 1", "DE", "Nuremberg", (49.452_102, 11.076_665), EU),
    place(3, "hel1", "Helsinki DC Park 1", "FI", "Helsinki", (60.169_855, 24.938_379), EU),
    place(4, "ash", "Ashburn, VA", "US", "Ashburn, VA", (39.045_821, -77.487_073), "us-east"),
    place(5, "hil", "Hillsboro, OR", "US", "Hillsboro, OR", (45.542_22, -122.951_924), "us-west"),
    place(6, "sin", "Singapore", "SG", "Singapore", (1.283_33, 103.833_33), "ap-southeast"),
];

const EU: &str = "eu-central";

const fn place(
    id: i64,
    name: &'static str,
    description: &'static str,
    country: &'static str,
    city: &'static str,
    (latitude, longitude): (f64, f64),
    network_zone: &'static str,
) -> Location {
    Location { id, name, description, country, city, latitude, longitude, network_zone }
}

impl Location {
    pub(crate) fn view(&self) -> Value {
        json!({
            "id": self.id,
            "name": self.name,
            "description": self.description,
            "country": self.country,
            "city": self.city,
            "latitude": self.latitude,
            "longitude": self.longitude,
            "network_zone": self.network_zone,
        })
    }
}

impl Entry for Location {
    const FIELD: &'static str = "location";

    fn all() -> &'static [Self] {
        &LOCATIONS
    }

    fn id(&self) -> i64 {
        self.id
    }

    fn name(&self) -> &'static str {
        self.name
    }
}
