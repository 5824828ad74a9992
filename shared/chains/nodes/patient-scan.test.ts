import { describe, expect, it } from 'vitest'
import type { ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import { BlockUnreadable, NodeUnreliable } from '#shared/ports/scanning.ts'
import { NodeLag } from './node-roster.ts'
import { createPatientScan } from './patient-scan.ts'
import { RpcFailure } from './rpc-failure.ts'

const blockAt = (height: number): ScannedBlock => ({
  height,
  hash: `${height}`,
  parentHash: '',
  time: 0,
  transfers: [],
})
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)
const cut = (height: number, kind: 'split' | 'retry') =>
  new BlockUnreadable(
    { height, hash: null, method: 'trace_block', reason: 'it broke' },
    new RpcFailure(kind, 'it broke'),
  )

/** A network of 100 blocks, some of which fail as usual, and how it was asked. */
function network(fails: (height: number) => Error | null, failsAlone: (height: number) => Error | null = () => null) {
  const requests: string[] = []
  const read = createPatientScan()
  const ways = {
    async scan(from: number, to: number) {
      requests.push(from === to ? `${from}` : `${from}-${to}`)
      const failure = range(from, to).flatMap((height) => fails(height) ?? [])[0]
      if (failure !== undefined) throw failure
      return range(from, to).map(blockAt)
    },
    async scanAlone(height: number) {
      requests.push(`alone ${height}`)
      const failure = failsAlone(height)
      if (failure !== null) throw failure
      return blockAt(height)
    },
  }
  return {
    requests,
    /** Reads up to a height as a scanner does: from where it stands, again after failures. Gives the failures. */
    async readTo(to: number, tries = 60): Promise<readonly string[]> {
      const failures: string[] = []
      for (let next = 1; next <= to && failures.length < tries; ) {
        try {
          const blocks = await read(ways, next, to)
          expect(blocks.map(({ height }) => height)).toEqual(range(next, blocks.at(-1)?.height ?? 0))
          next = (blocks.at(-1)?.height ?? 0) + 1
        } catch (error) {
          failures.push(error instanceof Error ? error.message : '')
        }
      }
      return failures
    },
  }
}

describe('one block that cannot be read as usual', () => {
  // Guarantee: the others of its batch are read as usual, and it is read alone once.
  it.each([1, 2, 57, 100])('is read alone, whatever its place in the batch: %i', async (bad) => {
    const { requests, readTo } = network((height) => (height === bad ? cut(bad, 'split') : null))
    expect((await readTo(100)).length).toBeLessThanOrEqual(1)
    expect(requests.filter((question) => question.startsWith('alone'))).toEqual([`alone ${bad}`])
  })

  it('is asked for as usual twice when the failure may pass', async () => {
    const { requests, readTo } = network((height) => (height === 1 ? cut(1, 'retry') : null))
    await readTo(1)
    expect(requests).toEqual(['1', '1', 'alone 1'])
  })

  it('is not read alone when the second try brings it', async () => {
    let failures = 1
    const { requests, readTo } = network(() => (failures-- > 0 ? cut(1, 'retry') : null))
    await readTo(1)
    expect(requests).toEqual(['1', '1'])
  })

  it('is found by smaller batches when no failure names it', async () => {
    const bad = 42
    const { requests, readTo } = network((height) => (height === bad ? new NodeUnreliable('garbage') : null))
    await readTo(100, 12)
    expect(requests.at(-1)).toBe(`${bad}`)
    expect(requests.filter((question) => question === `${bad}`).length).toBeGreaterThan(1)
  })

  it('is asked for as usual again after reading it alone failed', async () => {
    const { requests, readTo } = network(
      (height) => (height === 1 ? cut(1, 'split') : null),
      (height) => cut(height, 'split'),
    )
    await readTo(1, 2)
    expect(requests).toEqual(['1', 'alone 1', '1', 'alone 1'])
  })
})

it('a node that lags changes nothing about the batches', async () => {
  let lags = true
  const { requests, readTo } = network(() => (lags ? new NodeLag('no block 9 yet') : null))
  await readTo(9, 1)
  lags = false
  await readTo(9)
  expect(requests).toEqual(['1-9', '1-9'])
})

// Guarantee: an operator's rescan of old blocks that fails never passes them by with a block of the usual scan.
it('gives no block of another range when a failure names none', async () => {
  const read = createPatientScan()
  let fails: Error = cut(57, 'split')
  const ways = {
    scan: () => Promise.reject(fails),
    scanAlone: async (height: number) => blockAt(height),
  }
  await expect(read(ways, 51, 57)).rejects.toThrow('it broke')
  fails = new NodeUnreliable('old logs are not offered')
  await expect(read(ways, 1, 20)).rejects.toThrow('old logs are not offered')
  await expect(read(ways, 1, 20)).rejects.toThrow('old logs are not offered')
})
