import { describe, expect, it } from 'vitest'
import { blocksOf } from '#shared/chains/chain-figures.ts'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { NETWORK_IDS } from '#shared/domain/enumerations.ts'
import { cutWindow, extendWindow, type HashWindow } from './scan-window.ts'

const blocks = (from: number, to: number): HashWindow =>
  Array.from({ length: to - from + 1 }, (_, i) => [from + i, `h${from + i}`] as const)
const heights = (window: HashWindow) => window.map(([height]) => height)

describe('the hash window', () => {
  it('keeps the newest 128 blocks whole and older ones sparsely, whatever the steps', () => {
    let stepwise: HashWindow = []
    for (let height = 0; height <= 1_000; height += 1) stepwise = extendWindow(stepwise, blocks(height, height), 256)
    expect(heights(stepwise)).toEqual([512, 576, 640, 704, 768, 832, ...heights(blocks(873, 1_000))])
    expect(extendWindow(extendWindow([], blocks(0, 980), 256), blocks(981, 1_000), 256)).toEqual(stepwise)
  })

  it('never holds more than a few dozen entries beyond the dense part', () => {
    expect(extendWindow([], blocks(0, 100_000), 480).length).toBeLessThan(128 + 20)
  })

  // Guarantee: whether the block of a payment was scanned is known when it confirms, also while catching up by 20 blocks.
  it.each(NETWORK_IDS)('remembers a block until its payments confirm on %s', (network) => {
    const chain = CHAINS[network]
    const confirmations = blocksOf(chain.confirmations, chain, null)
    const finalityDepth = blocksOf(chain.reorganisation, chain, null)
    const almost = 1_000 + confirmations - 2
    const before = extendWindow([], blocks(0, almost), finalityDepth)
    expect(heights(extendWindow(before, blocks(almost + 1, almost + 20), finalityDepth))).toContain(1_000)
  })

  it('is cut at a fork', () => {
    expect(heights(cutWindow(blocks(1, 9), 6))).toEqual([1, 2, 3, 4, 5, 6])
  })
})
