// Reads orders in a group and bills each once: bill and offset are in one transaction.
import { Consumer, MessagesStreamModes, Producer, stringDeserializers, stringSerializers } from '@platformatic/kafka'

const ORDERS = 10
const bootstrapBrokers = [process.argv[2]]

const producer = new Producer({
  clientId: 'billing',
  bootstrapBrokers,
  serializers: stringSerializers,
  idempotent: true,
  transactionalId: 'billing-0',
  autocreateTopics: true
})
const consumer = new Consumer({ clientId: 'billing', groupId: 'billing', bootstrapBrokers, deserializers: stringDeserializers })
const orders = await consumer.consume({ topics: ['orders'], autocommit: false, mode: MessagesStreamModes.EARLIEST })

let billed = 0
for await (const order of orders) {
  const transaction = await producer.beginTransaction()
  await transaction.addConsumer(consumer)
  await transaction.send({ messages: [{ topic: 'bills', value: `bill for ${order.value}` }] })
  await transaction.addOffset(order)
  await transaction.commit()
  billed += 1
  if (billed === ORDERS) break
}
await consumer.close(true)
await producer.close()
