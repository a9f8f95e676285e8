//! Reads orders in a group of the new protocol and bills each once: bill and offset are in one transaction.

use std::time::Duration;

use krafka::consumer::{AutoOffsetReset, GroupProtocol, IsolationLevel};
use krafka::producer::TopicPartitionOffset;
use krafka::{Kafka, Record};

const ORDERS: usize = 10;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bootstrap = std::env::args().nth(1).expect("an address");
    let kafka = Kafka::builder(bootstrap).connect().await?;
    let consumer = kafka
        .consumer("billing")
        .group_protocol(GroupProtocol::Consumer)
        .auto_offset_reset(AutoOffsetReset::Earliest)
        .isolation_level(IsolationLevel::ReadCommitted)
        .enable_auto_commit(false)
        .build()
        .await?;
    let producer = kafka.producer().build_transactional("billing-0").await?;
    consumer.subscribe(["orders"]).await?;

    let mut billed = 0;
    while billed < ORDERS {
        let orders = consumer.poll(Duration::from_secs(1)).await?;
        let Some(last) = orders.last() else { continue };
        producer.begin()?;
        for order in &orders {
            let value = String::from_utf8_lossy(order.value.as_deref().unwrap_or_default());
            let _ = producer.send(Record::new("bills", format!("bill for {value}"))).await?;
        }
        let next = TopicPartitionOffset::new(&*last.topic, last.partition, last.offset + 1);
        let member = consumer.group_metadata().await.expect("a member of the group");
        producer.send_offsets(&[next], &member).await?;
        producer.commit().await?;
        billed += orders.len();
    }
    producer.close().await?;
    consumer.close().await?;
    Ok(())
}
