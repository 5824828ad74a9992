import { base58 } from '@scure/base'
import { expect, it } from 'vitest'
import type { z } from 'zod'
import { RpcFailure } from '../../nodes/rpc-failure.ts'
import { key, payment } from './extract.fixture.ts'
import type { Caller } from './get-block.ts'
import { createBlockReader } from './read-blocks.ts'

const SLOT = 100
const QUOTA = 15
const ids = Array.from({ length: 40 }, (_, index) => base58.encode(new Uint8Array(64).fill(index + 1)))

// Guarantee: a block with more transactions than a provider's quota gives at once is read little by little, and the network goes on.
it('a block that is read by its transactions goes on where the attempt before ended', async () => {
  let left = 0
  const { transaction: accounts, meta } = payment
  const answer = (method: string, [id]: readonly unknown[]): unknown => {
    if (method === 'getBlock') {
      const header = { blockhash: key(20), previousBlockhash: key(19), parentSlot: SLOT - 1, blockTime: 1_800_000_000 }
      return { ...header, signatures: ids }
    }
    left -= 1
    if (left < 0) throw new RpcFailure('rate', 'too many requests', { retryAfterMs: 1_000 })
    const message = { accountKeys: accounts.accountKeys }
    return { slot: SLOT, transaction: { signatures: [id], message }, meta }
  }
  const rpc: Caller = {
    call: async <T>(method: string, params: readonly unknown[], schema: z.ZodType<T>) =>
      schema.parse(answer(method, params)),
  }
  const read = async () => {
    left = QUOTA
    const reader = createBlockReader(rpc, () => ({ genesisHash: '', simulated: false }))
    const { content } = await reader.readAlone(SLOT, SLOT, (all) => all.map((one) => one.transaction.signatures[0]))
    return content
  }
  await expect(read()).rejects.toThrow('too many requests')
  await expect(read()).rejects.toThrow('too many requests')
  expect(await read()).toEqual(ids)
})
