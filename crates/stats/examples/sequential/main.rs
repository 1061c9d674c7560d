//! Simulates the sequential looks: recomputes the constants of `stats::sequential`, and prints how
//! often a family of equal lanes gets a false `faster` under every rule that a user meets, how soon
//! true differences are decided, whether forecasts and planned resolutions come true, and what stalls do.
//!
//! `cargo run --release -p stats --example sequential [FAMILIES [SEED]]`: Markdown tables. 200,000
//! families (the default) take 70 s of two CPUs.

#[path = "../../src/sample.rs"]
mod sample;

mod errors;
mod power;
mod race;
mod stalls;
mod tables;
mod whole_race;

fn main() {
    let argument = |place: usize| std::env::args().nth(place).and_then(|given| given.parse().ok());
    let (families, seed) = (argument(1).unwrap_or(200_000), argument(2).unwrap_or(1));
    println!("{families} families per row where a row does not say otherwise, seed {seed}.\n");
    tables::constants_and_errors(families as usize, seed);
    tables::races(families as usize / 4, seed);
    tables::whole_races(families as usize / 20, seed);
    tables::ties(families as usize / 20, seed);
    tables::widths(families as usize / 50, seed);
    tables::power(families as usize / 50, seed);
    tables::forecasts(families as usize / 50, seed);
    stalls::table(families as usize / 20, seed);
}
