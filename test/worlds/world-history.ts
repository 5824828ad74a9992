import fc from 'fast-check'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { REFUSALS } from '#test/support/refusals.ts'
import { HONEST, type NodeWorld } from '#test/support/world-node.ts'
import type { Token } from './payers.ts'

/**
 * The accounts of a history, by index. Three wait: for tokens, for coins, and a contract wallet for coins; the fourth passes everything on
 * that it gets. The invoice of the fifth has ended, and the sixth never had one.
 */
export const ACCOUNTS = [
  { kind: 'key', waitsFor: 'usdt_ethereum', status: 'pending' },
  { kind: 'key', waitsFor: 'eth_ethereum', status: 'pending' },
  { kind: 'safe', waitsFor: 'eth_ethereum', status: 'pending' },
  { kind: 'forwarding', waitsFor: 'usdt_ethereum', status: 'pending' },
  { kind: 'key', waitsFor: 'usdt_ethereum', status: 'expired' },
  { kind: 'key', waitsFor: null, status: null },
] as const

/** One thing that happens. `to` and `from` are indexes of accounts; sizes are multiples of a unit of the asset. */
export type Step =
  | { readonly kind: 'pay'; readonly to: number; readonly asset: AssetId; readonly size: bigint }
  | { readonly kind: 'call' | 'destroy' | 'nowhere'; readonly to: number; readonly size: bigint }
  | { readonly kind: 'reward'; readonly to: number }
  | { readonly kind: 'fail'; readonly size: bigint }
  | { readonly kind: 'batch'; readonly to: number; readonly other: number; readonly size: bigint }
  | { readonly kind: 'sweep'; readonly from: number; readonly asset: AssetId; readonly isAll: boolean }
  | { readonly kind: 'collect'; readonly from: number; readonly asset: Token; readonly isAll: boolean }
  | { readonly kind: 'execute'; readonly from: number; readonly isAll: boolean }
  | { readonly kind: 'delegate'; readonly from: number }
  | { readonly kind: 'through'; readonly to: number; readonly size: bigint; readonly isInside: boolean }
  | { readonly kind: 'taken'; readonly to: number; readonly asset: Token; readonly size: bigint }
  | { readonly kind: 'dust'; readonly to: number; readonly asset: AssetId; readonly count: number }
  | { readonly kind: 'poison'; readonly to: number; readonly count: number }
  | { readonly kind: 'mine'; readonly blocks: number }
  | { readonly kind: 'fork'; readonly depth: number; readonly to: number; readonly asset: AssetId }
  | { readonly kind: 'refuse'; readonly words: number; readonly calls: number }
  | { readonly kind: 'ahead'; readonly answers: number }
  /** The node answers no question for balances, so many times. */
  | { readonly kind: 'blind'; readonly calls: number }
  /** `change`: every block is read from here on, or balances choose them. */
  | { readonly kind: 'breathe' | 'pause' | 'resume' | 'change' }

/** A history: who reads first, through which node, and what happens. */
export interface History {
  readonly isAttentive: boolean
  readonly node: NodeWorld
  readonly steps: readonly Step[]
}

const account = fc.integer({ min: 0, max: ACCOUNTS.length - 1 })
const asset = fc.constantFrom<AssetId>('usdt_ethereum', 'usdt_ethereum', 'usdc_ethereum', 'eth_ethereum')
const token = fc.constantFrom<Token>('usdt_ethereum', 'usdt_ethereum', 'usdc_ethereum')
const size = fc.constantFrom(1n, 1n, 2n, 5n)
const step = <const K extends string, R extends object>(kind: K, rest: { [P in keyof R]: fc.Arbitrary<R[P]> }) =>
  fc.record({ kind: fc.constant(kind), ...rest } as never) as unknown as fc.Arbitrary<Step>
const few = (max: number) => fc.integer({ min: 1, max })

const anyStep = fc.oneof(
  { arbitrary: step('pay', { to: account, asset, size }), weight: 8 },
  { arbitrary: step('call', { to: account, size }), weight: 4 },
  { arbitrary: step('batch', { to: account, other: account, size }), weight: 3 },
  { arbitrary: step('destroy', { to: account, size }), weight: 1 },
  { arbitrary: step('nowhere', { to: account, size }), weight: 1 },
  { arbitrary: step('reward', { to: account }), weight: 1 },
  { arbitrary: step('fail', { size }), weight: 1 },
  { arbitrary: step('sweep', { from: account, asset, isAll: fc.boolean() }), weight: 3 },
  { arbitrary: step('through', { to: fc.constantFrom(1, 1, 0), size, isInside: fc.boolean() }), weight: 2 },
  { arbitrary: step('taken', { to: account, asset: token, size }), weight: 2 },
  { arbitrary: step('collect', { from: account, asset: token, isAll: fc.boolean() }), weight: 4 },
  { arbitrary: step('execute', { from: fc.constantFrom(2, 2, 1), isAll: fc.boolean() }), weight: 2 },
  { arbitrary: step('delegate', { from: fc.constantFrom(0, 1, 4, 5) }), weight: 1 },
  { arbitrary: step('dust', { to: account, asset, count: few(12) }), weight: 1 },
  { arbitrary: step('poison', { to: account, count: few(6) }), weight: 1 },
  { arbitrary: step('mine', { blocks: few(3) }), weight: 8 },
  { arbitrary: step('fork', { depth: few(4), to: account, asset }), weight: 2 },
  { arbitrary: step('refuse', { words: fc.nat({ max: REFUSALS.length - 1 }), calls: few(4) }), weight: 1 },
  { arbitrary: step('ahead', { answers: few(2) }), weight: 1 },
  { arbitrary: step('blind', { calls: few(60) }), weight: 1 },
  { arbitrary: step('change', {}), weight: 1 },
  { arbitrary: step('breathe', {}), weight: 4 },
  { arbitrary: step('pause', {}), weight: 2 },
  { arbitrary: step('resume', {}), weight: 2 },
)

/** Providers of histories: one in two has everything. */
const node = fc.oneof(
  { arbitrary: fc.constant(HONEST), weight: 4 },
  {
    arbitrary: fc.record({
      stateBlocks: fc.constantFrom(30, 64, 128),
      words: fc.constantFrom('geth' as const, 'chainstack' as const),
      ignoresHashes: fc.constant(false),
      lagBlocks: fc.constantFrom(0, 0, 2),
      isFinalAtHead: fc.boolean(),
      hasTraces: fc.constant(false),
    }),
    weight: 2,
  },
  { arbitrary: fc.constantFrom(1, 3).map((lagBlocks) => ({ ...HONEST, lagBlocks })), weight: 1 },
  { arbitrary: fc.constant({ ...HONEST, ignoresHashes: true }), weight: 1 },
  { arbitrary: fc.constant({ ...HONEST, isFinalAtHead: true }), weight: 1 },
)

/** Any history. */
export const worldHistory: fc.Arbitrary<History> = fc.record({
  isAttentive: fc.boolean(),
  node,
  steps: fc.array(anyStep, { minLength: 8, maxLength: 24 }),
})
