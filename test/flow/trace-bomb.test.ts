import { expect, test } from 'vitest'
import { nodeRpc } from '#dev/local-chain/node-rpc.ts'
import { DEVELOPMENT_PAYER } from '#dev/local-chain/pay.ts'
import { TRACE_BOMB } from '#test/support/trace-bomb.ts'
import { useWorld } from '#test/support/use-world.ts'

const world = useWorld()
/** What the requirement gives an invoice behind such a block. */
const PAID_WITHIN_MS = 120_000

// Guarantee: a stranger's cheap transaction whose trace is 80 MB keeps nobody from being paid.
test('an invoice in ether is paid behind a block that cannot be traced', { timeout: 240_000 }, async () => {
  const { dev, createInvoice, pay, waitForEvent } = world()
  const url = dev.rpcUrls['base'] ?? ''
  const hash = await nodeRpc(url, 'eth_sendTransaction', [{ from: DEVELOPMENT_PAYER, ...TRACE_BOMB }])
  await expect.poll(() => nodeRpc(url, 'eth_getTransactionReceipt', [hash])).not.toBeNull()
  const invoice = await createInvoice({ asset: 'eth_base', amount: '40.00' })
  await pay(invoice)
  const paid = await waitForEvent(invoice.id, 'invoice.paid', PAID_WITHIN_MS)
  expect(paid.data.object.received.confirmed_base_units).toBe(invoice.crypto?.amount_base_units)
})
