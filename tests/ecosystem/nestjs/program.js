// A microservice with a handler of requests and one of events; a client of the same process sends both.
require('reflect-metadata')
const { Controller, Module } = require('@nestjs/common')
const { NestFactory } = require('@nestjs/core')
const { ClientKafka, EventPattern, MessagePattern, Payload, Transport } = require('@nestjs/microservices')
const { firstValueFrom } = require('rxjs')

const ORDERS = 10
const client = { clientId: 'shop', brokers: [process.argv[2]] }
const subscribe = { fromBeginning: true }

let delivered = 0
let deliveredAll
const allDelivered = new Promise((resolve) => (deliveredAll = resolve))

class Shop {
  bill(order) {
    return `bill for ${order}`
  }

  deliver() {
    delivered += 1
    if (delivered === ORDERS) deliveredAll()
  }
}
// What TypeScript's decorators write.
function decorate(decorators, target, name) {
  decorators.forEach((each) => each(target, name, Object.getOwnPropertyDescriptor(target, name)))
}
Payload()(Shop.prototype, 'bill', 0)
decorate([MessagePattern('orders')], Shop.prototype, 'bill')
decorate([EventPattern('deliveries')], Shop.prototype, 'deliver')
Controller()(Shop)

class ShopModule {}
Module({ controllers: [Shop] })(ShopModule)

async function main() {
  const options = { client, consumer: { groupId: 'shop' }, subscribe }
  const shop = await NestFactory.createMicroservice(ShopModule, { transport: Transport.KAFKA, options, logger: ['error'] })
  await shop.listen()

  const customer = new ClientKafka({ client, consumer: { groupId: 'customer' } })
  customer.subscribeToResponseOf('orders')
  await customer.connect()
  for (let number = 0; number < ORDERS; number++) {
    console.log(await firstValueFrom(customer.send('orders', `order ${number}`)))
    await firstValueFrom(customer.emit('deliveries', `order ${number}`))
  }
  await allDelivered
  await customer.close()
  await shop.close()
}

main().catch((error) => {
  console.error(error)
  process.exit(1)
})
