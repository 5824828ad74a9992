import { expect, test } from 'vitest'
import { nodeRpc } from '#scripts/local-chain/node-rpc.ts'
import { useWorld } from '#test/support/use-world.ts'

const world = useWorld()

/** Money that a reorganisation takes back is taken back here too, before anything was called paid. */
test('a reorged payment steps back and returns under the same id when it is mined again', async () => {
  const { dev, createInvoice, pay, waitForEvent, distinctEvents, eventTypes, getInvoice, receiver } = world()
  const invoice = await createInvoice()
  await pay(invoice)
  const detected = await waitForEvent(invoice.id, 'payment.detected')
  const rpc = dev.rpcUrls['ethereum'] ?? ''

  // Two blocks are replaced by empty ones; the transfer is in one of them, because it has one or two confirmations.
  await nodeRpc(rpc, 'anvil_reorg', [2, []])
  const pendings = () => distinctEvents(invoice.id).filter((event) => event.type === 'invoice.pending')
  await receiver.waitFor(() => pendings().length === 2, 30_000)
  expect((await getInvoice(invoice.id)).received.amount).toBe('0')
  expect(eventTypes(invoice.id)).not.toContain('invoice.paid')

  // The payer's nonce went back with the chain, so this is the very same transaction in a later block.
  await pay(invoice)
  await waitForEvent(invoice.id, 'invoice.paid')
  const confirmed = distinctEvents(invoice.id).filter((event) => event.type === 'payment.confirmed')
  expect(confirmed).toHaveLength(1)
  expect(confirmed[0]?.data.payment?.id).toBe(detected.data.payment?.id)
  expect((await getInvoice(invoice.id)).received.amount).toBe(invoice.crypto?.amount)
})
