//! For how long nobody can tell how a wait gets on.

use std::time::Duration;

use super::group::Group;

/// Since when everybody who is open says nothing by which to tell. Not before
/// the others are there: one of them may be the controller that is to speak.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Silence {
    since: Option<Duration>,
}

impl Silence {
    /// Listens to all, and gives up those of whom nobody can tell once that has
    /// lasted for the grace.
    pub(super) fn listen(&mut self, at: Duration, grace: Option<Duration>, groups: &mut [Group]) {
        let open = groups.iter().any(Group::is_open);
        self.hear(at, groups.iter().any(Group::speaks), open);
        if self.ends(grace).is_some_and(|end| end <= at) {
            groups.iter_mut().for_each(Group::give_up_untold);
        }
    }

    /// Takes in whether somebody is open who says how far he is, and whether
    /// anybody is open at all.
    fn hear(&mut self, at: Duration, speaks: bool, open: bool) {
        self.since = if speaks || !open { None } else { self.since.or(Some(at)) };
    }

    /// Returns when it has lasted for too long; never without a grace.
    pub(super) fn ends(self, grace: Option<Duration>) -> Option<Duration> {
        Some(self.since? + grace?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_counts_from_the_last_that_spoke() {
        let at = Duration::from_secs;
        let mut silence = Silence::default();
        silence.hear(at(1), true, true);
        assert_eq!(silence.ends(Some(at(30))), None);
        silence.hear(at(5), false, true);
        silence.hear(at(9), false, true);
        assert_eq!(silence.ends(Some(at(30))), Some(at(35)));
        assert_eq!(silence.ends(None), None);
        silence.hear(at(10), true, true);
        silence.hear(at(11), false, true);
        assert_eq!(silence.ends(Some(at(30))), Some(at(41)));
        silence.hear(at(12), false, false);
        assert_eq!(silence.ends(Some(at(30))), None);
    }
}
