//! The causes that the engine itself can name. Gates name better ones.

use events::Code;

/// A check was not ready when its deadline passed.
pub const NOT_READY_IN_TIME: Code = Code(101);
/// A check could not look until its deadline passed, or was refused for good.
pub const COULD_NOT_LOOK: Code = Code(102);
/// A call was refused for good.
pub const REFUSED: Code = Code(103);
/// seaworthy itself is broken.
pub const BUG: Code = Code(100);
/// A call did not succeed until its deadline passed.
pub const NO_SUCCESS_IN_TIME: Code = Code(104);
