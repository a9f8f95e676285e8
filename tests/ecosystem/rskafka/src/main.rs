//! Creates a topic, writes a batch with each compression, and reads all of them.

use std::collections::BTreeMap;

use chrono::{TimeZone, Utc};
use rskafka::client::partition::{Compression, UnknownTopicHandling};
use rskafka::client::ClientBuilder;
use rskafka::record::Record;

const COMPRESSIONS: [Compression; 5] = [
    Compression::NoCompression,
    Compression::Gzip,
    Compression::Lz4,
    Compression::Snappy,
    Compression::Zstd,
];

fn order(number: usize) -> Record {
    Record {
        key: Some(format!("order-{number}").into_bytes()),
        value: Some("coffee ".repeat(100).into_bytes()),
        headers: BTreeMap::from([("number".to_owned(), number.to_string().into_bytes())]),
        timestamp: Utc.timestamp_millis_opt(1_700_000_000_000).unwrap(),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bootstrap = std::env::args().nth(1).expect("an address");
    let client = ClientBuilder::new(vec![bootstrap]).build().await?;
    client.controller_client()?.create_topic("orders", 1, 1, 5_000).await?;
    let partition = client.partition_client("orders", 0, UnknownTopicHandling::Retry).await?;

    for (number, compression) in COMPRESSIONS.into_iter().enumerate() {
        let offsets = partition.produce(vec![order(number)], compression).await?;
        println!("wrote {offsets:?}");
    }
    let (read, high_watermark) = partition.fetch_records(0, 1..1_000_000, 1_000).await?;
    let equal = read.iter().enumerate().filter(|(number, each)| each.record == order(*number)).count();
    println!("read {equal} of {high_watermark} as written");
    Ok(())
}
