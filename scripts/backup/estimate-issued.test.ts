import { expect, it } from 'vitest'
import { createIssuedEstimate } from './estimate-issued.ts'

const HOUR = 3_600_000
const invoice = (id: string, at: number, matchKey: string) => ({
  ...{ _id: id, workspaceId: 'shop', mode: 'live', createdAt: new Date(at) },
  paymentMethods: [{ family: 'evm', matchKey, from: new Date(at) }],
})
const address = (matchKey: string, change: object = {}) => ({
  ...{ _id: `live:evm:${matchKey}`, materialId: 'live:evm:key' },
  ...change,
})

// Guarantee: who has lost the marks reads for each key how much of it one stretch as long as the archive's age used at most.
it('says per key and series the most that was issued in any stretch as long as the archive is old', () => {
  const estimate = createIssuedEstimate()
  const times = [0, 10 * HOUR, 10 * HOUR + 1, 11 * HOUR, 40 * HOUR]
  estimate.add({ name: 'addresses', documents: times.map((_, n) => address(`a${n}`)) } as never)
  estimate.add({ name: 'addresses', documents: [address('listed', { heldBy: 'wallet' })] } as never)
  const listed = invoice('i9', 10 * HOUR, 'listed')
  estimate.add({
    name: 'invoices',
    documents: [...times.map((at, n) => invoice(`i${n}`, at, `a${n}`)), listed],
  } as never)
  const series = 'invoice numbers of shop (live)'
  expect(estimate.most(HOUR)).toEqual([
    { of: series, most: 4 },
    { of: 'live:evm:key', most: 3 },
  ])
  // A switch back to an address counts its first quote.
  const again = invoice('i0', 0, 'a0')
  estimate.add({
    name: 'invoices',
    documents: [
      {
        ...again,
        paymentMethods: [...again.paymentMethods, { ...again.paymentMethods[0], from: new Date(10 * HOUR) }],
      },
    ],
  } as never)
  expect(estimate.most(HOUR)[1]).toEqual({ of: 'live:evm:key', most: 3 })
})
