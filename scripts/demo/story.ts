import { createPaymesh } from '#clients/typescript/src/main.ts'
import { payOnLocalChain } from '#dev/local-chain/pay.ts'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import type { DevInfo } from '../start/dev-info.ts'
import { EXPECTED_EVENTS, faultsOf } from './expectations.ts'
import { startReceiver } from './receiver.ts'
import type { Timeline } from './timeline.ts'

/** Mining, confirming and delivering take about five seconds; ten times that indicates a fault. */
const STORY_TIMEOUT_MS = 60_000

/**
 * Creates an invoice, pays it with a real ERC-20 transfer on the local chain and waits for its webhooks, printing each
 * step as it happens. Returns all faults; an empty list is a success.
 */
export async function tellStory(dev: DevInfo, timeline: Timeline): Promise<readonly string[]> {
  const paymesh = createPaymesh({ apiKey: dev.testKey, baseUrl: dev.apiUrl })
  const receiver = await startReceiver((event, request) => {
    const { status, received, crypto: paymentMethod } = event.invoice
    const money = paymentMethod
      ? ` · received ${received.amount} of ${paymentMethod.amount} ${paymentMethod.symbol}`
      : ''
    timeline.line('webhook', `${event.type.padEnd(19)} ${event.signatureValid ? 'signature ok' : 'BAD SIGNATURE'}`)
    timeline.note(`invoice ${status}${money} · delivery ${request.deliveryId}`)
  })
  try {
    const endpoint = await paymesh.webhookEndpoints.create({ url: receiver.url, events: ['*'] })
    receiver.verifyWith(endpoint.secret)
    timeline.line('merchant', `listens for webhooks at ${receiver.url}`)
    const invoice = await paymesh.invoices.create({
      amount: '25.00',
      currency: 'USD',
      asset: 'usdt_ethereum',
      description: 'Two bags of coffee',
      order_id: 'demo-1',
    })
    if (invoice.crypto === null) return ['the invoice came without an address']
    const { amount, symbol, network, address, required_confirmations: confirmations } = invoice.crypto
    timeline.line('merchant', `created invoice #${invoice.number}: ${invoice.amount.value} ${invoice.amount.currency}`)
    timeline.note(`rate and address locked: ${amount} ${symbol} on ${network} to ${address}`)
    const amountBase = BigInt(invoice.crypto.amount_base_units)
    const { txHash } = await payOnLocalChain({
      rpcUrl: dev.rpcUrls[network] ?? '',
      contract: ASSETS.usdt_ethereum.contract,
      to: address,
      amountBase,
    })
    timeline.line('payer', `sent ${amount} ${symbol} in transaction ${txHash.slice(0, 18)}…`)
    timeline.line('chain', `${confirmations} confirmations required, one block a second`)
    const events = await receiver.waitForTypes(EXPECTED_EVENTS, STORY_TIMEOUT_MS)
    const paid = await paymesh.invoices.get(invoice.id)
    timeline.line('merchant', `asks the API: invoice #${paid.number} is ${paid.status}`)
    return [
      ...faultsOf(events, { amountBase, txHash }),
      ...(paid.status === 'paid' ? [] : [`the API says ${paid.status}`]),
    ]
  } finally {
    await receiver.close()
  }
}
