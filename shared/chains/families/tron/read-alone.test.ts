import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import type { z } from 'zod'
import { createWatchIndex } from '../watch-index.ts'
import type { PartNode } from './block-parts.ts'
import { readAlone } from './read-alone.ts'

const HEIGHT = 9
const OURS = '9858effd232b4033e47d90003d41ec34ecaeda94'
const PAYER = `41${'d'.repeat(40)}`
const watches = createWatchIndex()
watches.add(OURS)
const context = { keyPrefix: 'test:tron', nativeAsset: 'trx_tron', tokens: new Map(), watches } as const

/** A block whose transactions pay somebody else, except the one at `ours`. */
function blockOf(length: number, ours: number) {
  const transactions = Array.from({ length }, (_, index) => {
    const raw_data_hex = index.toString(16).padStart(8, '0')
    const to_address = index === ours ? `41${OURS}` : PAYER
    return {
      txID: createHash('sha256').update(Buffer.from(raw_data_hex, 'hex')).digest('hex'),
      raw_data_hex,
      raw_data: {
        contract: [
          {
            type: 'TransferContract',
            parameter: { value: { owner_address: `41${'a'.repeat(40)}`, to_address, amount: 5 } },
          },
        ],
      },
      ret: [{ contractRet: 'SUCCESS' }],
    }
  })
  return {
    blockID: `${HEIGHT.toString(16).padStart(16, '0')}${'b'.repeat(48)}`,
    block_header: { raw_data: { number: HEIGHT, timestamp: 1_700_000_000_000, parentHash: 'c'.repeat(64) } },
    transactions,
  }
}

/** A node that has nothing about one transaction, and counts what it is asked about the others. */
function nodeOf(block: ReturnType<typeof blockOf>, missing: string | null) {
  const counts = { requests: 0, running: 0, most: 0, missing }
  const info = (id: unknown) =>
    id === counts.missing ? {} : { id, blockNumber: HEIGHT, blockTimeStamp: 1_700_000_000_000 }
  const node: PartNode = {
    async call<T>(path: string, params: Readonly<Record<string, unknown>>, schema: z.ZodType<T>) {
      if (path === 'wallet/getblockbynum') return schema.parse(block)
      counts.requests += 1
      counts.running += 1
      counts.most = Math.max(counts.most, counts.running)
      await Promise.resolve()
      counts.running -= 1
      return schema.parse(info(params['value']))
    },
  }
  return { node, counts }
}

// Guarantee: a few transactions at a time, and of each only what it moved is kept.
it('a block of 5,000 transactions is read four at a time, and what pays us is kept', async () => {
  const block = blockOf(5_000, 4_321)
  const { node, counts } = nodeOf(block, null)
  const { block: read, recorded } = await readAlone(node, HEIGHT, context)
  expect(read.transfers).toMatchObject([{ txHash: block.transactions[4_321]?.txID, amountBase: 5n }])
  expect(recorded).toBeNull()
  expect(counts).toMatchObject({ requests: 5_000, most: 4 })
})

// Guarantee: no answer about one transaction is pending, never nothing, and ends the requests for the others.
it('a block with one transaction that the node has nothing about is named', async () => {
  const block = blockOf(5_000, 3)
  const { node, counts } = nodeOf(block, block.transactions[20]?.txID ?? null)
  await expect(readAlone(node, HEIGHT, context)).rejects.toMatchObject({
    name: 'BlockUnreadable',
    block: {
      height: HEIGHT,
      hash: block.blockID,
      method: 'wallet/gettransactioninfobyid',
      reason: expect.stringContaining(block.transactions[20]?.txID ?? ''),
    },
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(counts.requests).toBeLessThan(30)
})

// Guarantee: a node with a small quota gives a block in several attempts, also to an address that is watched only then.
it('a block is read on where an attempt failed, for all addresses that are watched by now', async () => {
  const block = blockOf(1_000, 3)
  const { node, counts } = nodeOf(block, block.transactions[900]?.txID ?? null)
  const later = createWatchIndex()
  const nobody = { ...context, watches: later }
  await expect(readAlone(node, HEIGHT, nobody)).rejects.toMatchObject({ name: 'BlockUnreadable' })
  Object.assign(counts, { requests: 0, missing: null })
  later.add(OURS)
  const { block: read } = await readAlone(node, HEIGHT, nobody)
  expect(read.transfers).toMatchObject([{ txHash: block.transactions[3]?.txID, amountBase: 5n }])
  expect(counts.requests).toBeLessThan(110)
})
