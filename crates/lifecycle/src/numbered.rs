//! Pins of what happens more than once. What was pinned stays, so every later
//! time has a pin of its own, with a number.

/// What stands before the number. Nothing that is pinned has it in its name.
const NUMBER: &str = ", number ";

/// Returns what a time is pinned under: the first has no number.
pub(crate) fn nth(name: &str, number: u32) -> String {
    if number == 0 { name.to_owned() } else { format!("{name}{NUMBER}{number}") }
}

/// Returns the name and the number of a pin.
pub(crate) fn read(pin: &str) -> Option<(&str, u32)> {
    match pin.split_once(NUMBER) {
        Some((name, number)) => Some((name, number.parse().ok()?)),
        None => Some((pin, 0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_pinned_is_read_back() {
        for number in [0, 1, 12] {
            assert_eq!(read(&nth("machine 10.0.0.1", number)), Some(("machine 10.0.0.1", number)));
        }
        assert_eq!(read("w-1, number two"), None);
    }
}
