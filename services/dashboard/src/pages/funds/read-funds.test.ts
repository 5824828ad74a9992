import { expect, test } from 'vitest'
import type { NetworkId } from '#shared/domain/enumerations.ts'
import { type FundsPart, type FundsProgress, PAGES_MAX, readFunds } from './read-funds.ts'

const NETWORKS: readonly NetworkId[] = ['ethereum', 'polygon']
const part = (next: string | null): FundsPart => ({ lines: [], addresses: 20, next, fault: null })

/** Reads with our own server; returns every progress that was shown. */
async function run(
  page: (network: NetworkId, after: string | null, stop: () => void) => FundsPart,
): Promise<{ readonly last: FundsProgress; readonly all: readonly FundsProgress[] }> {
  const all: FundsProgress[] = []
  let isStopped = false
  const stop = () => {
    isStopped = true
  }
  await readFunds({
    networks: NETWORKS,
    page: async (network, after) => page(network, after, stop),
    isStopped: () => isStopped,
    show: (progress) => all.push(progress),
  })
  const last = all.at(-1)
  if (last === undefined) throw new Error('nothing was shown')
  return { last, all }
}

test('a reading is whole when the last address of each network was read, and not before', async () => {
  const { last, all } = await run((_network, after) => part(after === null ? '19' : null))
  expect(last).toMatchObject({ addresses: 80, reading: null, cut: [], isWhole: true, error: null })
  expect(all.slice(0, -1).some(({ isWhole }) => isWhole)).toBe(false)
})

test.each([null, '19'])('a failure with the place %s leaves the reading incomplete', async (failing) => {
  const failure = new Error('no response')
  const { last } = await run((_network, after) => {
    if (after === failing) throw failure
    return part('19')
  })
  expect(last).toMatchObject({ addresses: failing === null ? 0 : 20, reading: null, isWhole: false, error: failure })
})

// Guarantee: a network that was never read is not passed over in silence.
test('a stop during the last page of the first network leaves the reading incomplete', async () => {
  const read: NetworkId[] = []
  const { last } = await run((network, _after, stop) => {
    read.push(network)
    stop()
    return part(null)
  })
  expect(read).toEqual(['ethereum'])
  expect(last).toMatchObject({ addresses: 20, reading: null, cut: [], isWhole: false, error: null })
})

test('a stop during the very last page changes nothing: everything was read', async () => {
  const { last } = await run((network, _after, stop) => {
    if (network === 'polygon') stop()
    return part(null)
  })
  expect(last.isWhole).toBe(true)
})

test('a network with more pages than are read is named, and the reading is incomplete', async () => {
  const { last } = await run((network) => part(network === 'ethereum' ? '19' : null))
  expect(last).toMatchObject({ cut: [['ethereum', PAGES_MAX * 20]], isWhole: false })
})
