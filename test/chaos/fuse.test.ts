import { expect, it } from 'vitest'
import type { ScanDeps } from '#shared/usecases/scanning/scan-session.ts'
import { createFuse } from './fuse.ts'

/** A scanner's dependencies that only note the moves of a cursor. */
function noting() {
  const written: string[] = []
  const advance = async (_mode: string, network: string) => {
    written.push(network)
    return true
  }
  const find = async () => null
  const deps = { payments: {}, exceptions: {}, wallets: {}, cursors: { advance, find } } as unknown as ScanDeps
  const fuse = createFuse(deps)
  const move = (network: 'bitcoin' | 'bsc' | 'base') =>
    fuse.deps.cursors.advance('test', network, { hash: '', epoch: 1 }, {})
  return { fuse, written, move }
}

it.each([
  ['before', ['bitcoin']],
  ['after', ['bitcoin', 'bsc']],
] as const)('kills %s the write that it is set to, and nothing is written afterwards', async (blow, expected) => {
  const { fuse, written, move } = noting()
  fuse.arm(2, blow)
  expect(await move('bitcoin')).toBe(true)
  await expect(move('bsc')).rejects.toThrow('killed')
  await expect(move('base')).rejects.toThrow('killed')
  expect(await fuse.deps.cursors.find('test', 'base')).toBeNull()
  expect([fuse.isBlown, written]).toEqual([true, expected])
})

it('holds a write back until it is released', async () => {
  const { fuse, written, move } = noting()
  fuse.arm(1, 'hold')
  const moved = move('bitcoin')
  await fuse.deps.cursors.find('test', 'bitcoin')
  expect([fuse.isBlown, written]).toEqual([true, []])
  fuse.release()
  expect([await moved, written]).toEqual([true, ['bitcoin']])
})
