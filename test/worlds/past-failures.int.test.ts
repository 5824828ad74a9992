import { it } from 'vitest'
import { useStores } from '#test/support/stores.ts'
import { HONEST } from '#test/support/world-node.ts'
import type { History } from './world-history.ts'
import { useWorldStage } from './world-stage.ts'

const stage = useWorldStage(useStores(), 1)

/** Random histories that failed once, shortened. */
const HISTORIES: Readonly<Record<string, History>> = {
  // A node that ignores hashes refused the code that reads balances together, and single balances say nothing about their block.
  'balances one by one of a node that ignores hashes': {
    isAttentive: false,
    node: { ...HONEST, ignoresHashes: true },
    steps: [
      { kind: 'pay', to: 2, asset: 'usdc_ethereum', size: 5n },
      { kind: 'breathe' },
      { kind: 'batch', to: 3, other: 0, size: 5n },
      { kind: 'refuse', words: 4, calls: 3 },
      { kind: 'resume' },
      { kind: 'fork', depth: 3, to: 1, asset: 'usdc_ethereum' },
      { kind: 'pay', to: 4, asset: 'usdc_ethereum', size: 2n },
      { kind: 'breathe' },
      { kind: 'fork', depth: 4, to: 2, asset: 'usdc_ethereum' },
    ],
  },
  // No start was stored, because the first question of the invoice was one for a state that was gone.
  'coins that came and went before an account was first read': {
    isAttentive: true,
    node: { ...HONEST, stateBlocks: 30, lagBlocks: 2 },
    steps: [
      { kind: 'execute', from: 1, isAll: true },
      { kind: 'pause' },
      { kind: 'sweep', from: 0, asset: 'usdt_ethereum', isAll: true },
      { kind: 'through', to: 1, size: 2n, isInside: true },
      { kind: 'through', to: 1, size: 5n, isInside: false },
      { kind: 'batch', to: 5, other: 2, size: 1n },
      { kind: 'mine', blocks: 3 },
    ],
  },
  // Balances at both ends were alike, and at the deadline no node had those between.
  'direct coins that a key sent on at once': {
    isAttentive: true,
    node: { ...HONEST, stateBlocks: 30, words: 'chainstack', isFinalAtHead: true },
    steps: [
      { kind: 'breathe' },
      { kind: 'through', to: 0, size: 1n, isInside: false },
      { kind: 'breathe' },
      { kind: 'pay', to: 0, asset: 'usdt_ethereum', size: 5n },
      { kind: 'mine', blocks: 3 },
      { kind: 'pause' },
      { kind: 'mine', blocks: 3 },
      { kind: 'resume' },
    ],
  },
}

// Guarantee: what failed once fails no more.
it.each(Object.entries(HISTORIES))('%s', (_, history) => stage.play(history), 60_000)
