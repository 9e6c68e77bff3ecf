//! The key of Sealed Secrets: the one that the cluster file names, or one that is
//! made once and kept with the state, so that a rebuilt cluster opens old secrets.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use addons::seal::{Lifetime, SealingKey, Strength};
use engine::{ActError, Hands, SendError, Sight};
use events::{Call, CallClass, Failure, Made, Secret, private};

use crate::Site;

const BETWEEN: &str = "-----END CERTIFICATE-----\n";

/// Takes the key that was given, loads the cluster's own, or makes it.
pub(crate) async fn load_or_make(site: &Site, hands: &Hands) -> Result<(), ActError> {
    if site.sealing_key().is_some() {
        return Ok(());
    }
    if let Some(given) = &site.given_sealing_key {
        hands.hide("sealing key", given.private())?;
        site.keep_sealing_key(given.clone());
        return Ok(());
    }
    let file = file(site);
    let call = Call::new(CallClass::Named, "make sealing key", "sealing-key.pem", b"");
    let look = async |_| match file.try_exists() {
        Ok(true) => Ok(Sight::There(Made::default())),
        Ok(false) => Ok(Sight::NotThere),
        Err(error) => Err(unusable(&file, &error.to_string()).into()),
    };
    let (path, at, mut rng) = (file.clone(), site.clock.now(), site.rng());
    let make = move |_| async move {
        let made = tokio::task::spawn_blocking(move || {
            let key = SealingKey::make(Strength::Bits2048, Lifetime::ten_years(at), &mut rng);
            let key = key.map_err(io::Error::other)?;
            let text = format!("{}{}", key.certificate().pem(), key.private().reveal());
            private::write_new(&path, text.as_bytes())
        });
        let made = made.await.unwrap_or_else(|stopped| Err(io::Error::other(stopped)));
        made.map(|_| Made::default())
            .map_err(|error| SendError::refused(Failure::permanent(error.to_string())))
    };
    hands.ensure(call, look, make).await?;
    let key = load(&file).map_err(|error| unusable(&file, &error))?;
    hands.hide("sealing key", key.private())?;
    site.keep_sealing_key(key);
    Ok(())
}

fn load(file: &Path) -> Result<SealingKey, String> {
    let text = fs::read_to_string(file).map_err(|error| error.to_string())?;
    let end = text.find(BETWEEN).ok_or("it holds no certificate")? + BETWEEN.len();
    let (certificate, private) = text.split_at(end);
    SealingKey::from_pem(certificate, &Secret::new(private)).map_err(|error| error.to_string())
}

fn file(site: &Site) -> PathBuf {
    site.folder.join("sealing-key.pem")
}

fn unusable(file: &Path, why: &str) -> Failure {
    Failure::permanent(format!("the sealing key {} cannot be used: {why}", file.display()))
}
