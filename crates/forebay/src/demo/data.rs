//! The shop's data: made up, the same each time, and as uneven as real data is.

use std::fmt::Write as _;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

/// How many orders there are.
pub(super) const ORDERS: u32 = 5_000;
const CUSTOMERS: u32 = 2_400;
const LOG_LINES: u32 = 4_000;

/// 2026-01-01T00:00:00Z.
const NEW_YEAR: Timestamp = Timestamp::constant(1_767_225_600, 0);

/// Values, and how often each comes up.
type Weighted = [(&'static str, u32)];

const STATUS: &Weighted =
    &[("delivered", 71), ("shipped", 14), ("processing", 9), ("cancelled", 4), ("refunded", 2)];
const COUNTRIES: &Weighted =
    &[("DE", 38), ("FR", 17), ("NL", 12), ("AT", 10), ("IT", 9), ("ES", 7), ("PL", 5), ("PT", 2)];
const PRODUCTS: &Weighted = &[
    ("filter paper", 30),
    ("espresso beans", 22),
    ("decaf beans", 12),
    ("glass carafe", 9),
    ("hand grinder", 8),
    ("kettle", 7),
    ("milk jug", 6),
    ("scale", 4),
    ("espresso machine", 2),
];
const FIRST_NAMES: [&str; 12] = [
    "Anna", "Ben", "Carla", "David", "Elena", "Felix", "Giulia", "Hugo", "Inês", "Jan", "Klara",
    "Łukasz",
];
const LAST_NAMES: [&str; 12] = [
    "Albers", "Bianchi", "Costa", "Dupont", "Engel", "Ferreira", "García", "Huber", "Ivanova",
    "Jansen", "Kowalska", "Lehmann",
];

/// A page of orders, as an API gives it.
#[derive(Serialize)]
pub(super) struct Orders {
    total: u32,
    currency: &'static str,
    results: Vec<Order>,
}

#[derive(Serialize)]
struct Order {
    id: u32,
    customer_id: u32,
    created_at: Timestamp,
    status: &'static str,
    country: &'static str,
    product: &'static str,
    quantity: u32,
    total: f64,
    coupon: Option<&'static str>,
}

/// The first `limit` orders.
pub(super) fn orders(limit: u32) -> Orders {
    let mut dice = Dice(1);
    let mut at = NEW_YEAR;
    let orders = (0..limit.min(ORDERS)).map(|index| {
        at = later(at, 60_000 * (1 + dice.small(60)));
        let quantity = 1 + dice.small(6);
        Order {
            id: 100_000 + index,
            customer_id: 1 + dice.below(CUSTOMERS),
            created_at: at,
            status: dice.pick(STATUS),
            country: dice.pick(COUNTRIES),
            product: dice.pick(PRODUCTS),
            quantity,
            total: euros(quantity * (450 + dice.small(18_000))),
            coupon: (dice.below(10) == 0).then_some("SPRING10"),
        }
    });
    Orders { total: ORDERS, currency: "EUR", results: orders.collect() }
}

/// The customers, as a spreadsheet exports them.
pub(super) fn customers() -> String {
    let mut dice = Dice(2);
    let mut csv = "id,name,email,country,orders,revenue_eur,last_order\n".to_owned();
    for id in 1..=CUSTOMERS {
        let (first, last) = (dice.one_of(&FIRST_NAMES), dice.one_of(&LAST_NAMES));
        let country = dice.pick(COUNTRIES);
        let orders = dice.small(40);
        let revenue = euros(orders * (1_500 + dice.small(4_000)));
        let last_order = later(NEW_YEAR, dice.small(u32::MAX)).strftime("%Y-%m-%d");
        let _ = writeln!(
            csv,
            "{id},\"{last}, {first}\",customer{id}@example.com,{country},{orders},{revenue},{last_order}",
        );
    }
    csv
}

/// The log of a morning.
pub(super) fn log() -> String {
    let mut dice = Dice(3);
    let mut log = String::new();
    let mut at = later(NEW_YEAR, 8 * 60 * 60 * 1_000);
    for _ in 0..LOG_LINES {
        at = later(at, 20 + dice.small(7_000));
        let order = 100_000 + dice.below(ORDERS);
        let (level, message) = match dice.below(1_000) {
            0..=4 => ("ERROR", format!("payment of order {order} failed: gateway timeout")),
            5..=34 => ("WARN", format!("stock of {} is low", dice.pick(PRODUCTS))),
            35..=299 => ("INFO", format!("order {order} paid")),
            _ => ("INFO", format!("GET /v1/orders/{order} 200 {} ms", 3 + dice.small(400))),
        };
        let _ = writeln!(log, "{at:.3} {level:5} {message}");
    }
    log
}

fn later(moment: Timestamp, millis: u32) -> Timestamp {
    let later = moment.saturating_add(SignedDuration::from_millis(millis.into()));
    later.unwrap_or(moment)
}

fn euros(cents: u32) -> f64 {
    f64::from(cents) / 100.0
}

/// A source of numbers that look random and are the same each time (`SplitMix64`).
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let below = (mixed ^ (mixed >> 31)) % u64::from(limit);
        u32::try_from(below).unwrap_or_default()
    }

    /// Below `limit`, and mostly far below it.
    fn small(&mut self, limit: u32) -> u32 {
        let lower = 1 + self.below(limit);
        self.below(lower)
    }

    fn one_of(&mut self, values: &[&'static str; 12]) -> &'static str {
        values[self.below(12) as usize]
    }

    /// One of some values, each as often as its weight says.
    fn pick(&mut self, values: &Weighted) -> &'static str {
        let mut left = self.below(values.iter().map(|(_, weight)| weight).sum());
        let found = values.iter().find(|(_, weight)| {
            let is_here = left < *weight;
            left = left.saturating_sub(*weight);
            is_here
        });
        found.map_or("", |(value, _)| value)
    }
}
