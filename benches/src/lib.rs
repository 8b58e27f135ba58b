//! What the benches of this workspace share: seeded instances and rules to measure against.

mod instance;
pub mod narx_tasks;
mod random;
mod walk;
mod yardstick;

pub use instance::Instance;
pub use random::Random;
pub use walk::wandering_workers;
pub use yardstick::{LargestRemainder, greedy};
