import { expect, test } from 'vitest'
import { nodeRpc } from '#dev/local-chain/node-rpc.ts'
import { useWorld } from '#test/support/use-world.ts'

const world = useWorld()

interface Block {
  readonly transactions: readonly string[]
}

/** Money that a reorganisation takes back is taken back here too, before anything was called paid. */
test('a reorged payment steps back and returns under the same id when it is mined again', async () => {
  const { dev, createInvoice, pay, waitForEvent, distinctEvents, eventTypes, getInvoice, receiver } = world()
  const rpc = (method: string, ...params: unknown[]) => nodeRpc(dev.rpcUrls['polygon'] ?? '', method, params)
  const invoice = await createInvoice({ asset: 'usdt_polygon' })

  // Blocks come by hand here, so that it is known which one holds the transfer.
  await rpc('evm_setIntervalMining', 0)
  await pay(invoice)
  await rpc('anvil_mine', '0x1')
  const detected = await waitForEvent(invoice.id, 'payment.detected')
  const { transactions } = (await rpc('eth_getBlockByNumber', 'latest', false)) as Block
  const raw = await Promise.all(transactions.map((hash) => rpc('eth_getRawTransactionByHash', hash)))
  expect(raw).toHaveLength(2)

  // The block is replaced by an empty one, and more empty ones follow.
  await rpc('anvil_reorg', 1, [])
  await rpc('evm_setIntervalMining', 1)
  const pendings = () => distinctEvents(invoice.id).filter((event) => event.type === 'invoice.pending')
  await receiver.waitFor(() => pendings().length === 2, 90_000)
  expect((await getInvoice(invoice.id)).received.amount).toBe('0')
  expect(eventTypes(invoice.id)).not.toContain('invoice.paid')

  // The very same transactions, in a later block.
  for (const transaction of raw) await rpc('eth_sendRawTransaction', transaction)
  await waitForEvent(invoice.id, 'invoice.paid')
  await waitForEvent(invoice.id, 'payment.confirmed')
  const confirmed = distinctEvents(invoice.id).filter((event) => event.type === 'payment.confirmed')
  expect(confirmed).toHaveLength(1)
  expect(confirmed[0]?.data.payment?.id).toBe(detected.data.payment?.id)
  expect((await getInvoice(invoice.id)).received.amount).toBe(invoice.crypto?.amount)
})
