import { expect, it } from 'vitest'
import { bytes, on, SLOTS, unreliable, useFakeSolana } from '#test/support/fake-solana.ts'

const { startNode, clientOf } = useFakeSolana()

it('a transaction is shown in its slot, with the hash of the block that is scanned there', async () => {
  const client = clientOf(await startNode(SLOTS))
  const blockHash = (await client.blockAt(15))?.hash
  expect(await client.locate?.(bytes(15, 64))).toEqual({ height: 15, blockHash, succeeded: true })
  expect(await client.locate?.(bytes(99, 64))).toBeNull()
})

it('one that failed, one that may still be left out and one whose block is missing are told apart', async () => {
  const node = await startNode(SLOTS)
  const client = clientOf(node)
  const status = (change: object) =>
    on('getSignatureStatuses', {
      result: { value: [{ slot: 15, err: null, confirmationStatus: 'confirmed', ...change }] },
    })
  node.lie = status({ err: { InstructionError: [0, 'Custom'] } })
  expect(await client.locate?.(bytes(15, 64))).toMatchObject({ height: 15, succeeded: false })
  node.lie = status({ confirmationStatus: 'processed' })
  expect(await client.locate?.(bytes(15, 64))).toBe('unconfirmed')
  node.lie = status({ slot: 16 })
  await expect(client.locate?.(bytes(15, 64))).rejects.toEqual(unreliable)
})
