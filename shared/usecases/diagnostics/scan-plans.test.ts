import { expect, it } from 'vitest'
import type { AssetId } from '#shared/domain/enumerations.ts'
import type { ChainCursor } from '#shared/ports/cursors.ts'
import { usualPace } from '#shared/usecases/scanning/thrifty-pace.ts'
import { type PlanScene, scanPlan } from './scan-plans.ts'

const NOW = 1_800_000_000_000
const HOUR_MS = 3_600_000
const pace = usualPace(2_000, async () => false)
const look = { height: 90, hash: '0x90', time: NOW - HOUR_MS, at: NOW - 60_000 }
const CURSOR: ChainCursor = {
  ...{ id: 'live:base', mode: 'live', network: 'base', height: 100, hash: '0x100', time: NOW - 60_000, window: [] },
  ...{ headHeight: 110, headSeenAt: NOW - 5_000, finalizedHeight: 90, status: 'live', haltReason: null },
  ...{ genesisHash: '0x0', lease: null, source: 'thrifty', looks: { ended: look, all: look, week: look, month: look } },
}
const SCENE: PlanScene = {
  ...{ now: NOW, pace, hasNode: true, choice: null, isConfirming: false, isNearlySpent: false },
  open: { byAsset: new Map(), nextDeadline: null, isComplete: true },
}
const waiting = (nextDeadline: number): Pick<PlanScene, 'open'> => {
  const byAsset = new Map<AssetId, number>([
    ['eth_base', 1],
    ['usdc_base', 2],
  ])
  return { open: { byAsset, nextDeadline, isComplete: true } }
}
const soon = waiting(NOW + 60_000)

// Guarantee: what people read about the next look is what the scanner does next.
it.each<[string, Partial<ChainCursor>, Partial<PlanScene>, number | null, RegExp]>([
  ['rests', {}, {}, 595_000, /only the newest block is asked for, every 10 minutes/],
  ['waits for money', {}, soon, pace.openMs - 5_000, /balances are compared every \d+ s, more often/],
  ['is short of quota', {}, { ...soon, isNearlySpent: true }, 55_000, /every 60 s, because 95 % of the quota is used/],
  ['passes a deadline', {}, waiting(NOW - 3_000), 0, /The deadline of an open invoice has passed/],
  ['confirms', {}, { isConfirming: true }, pace.confirmMs - 5_000, /A payment waits for its confirmation/],
  ['reads again', { recheckThrough: 105 }, soon, null, /Every block up to 105 is read again/],
  ['is halted', { status: 'halted' }, soon, null, /while the scan is halted/],
  ['is full', { source: 'full', looks: null }, soon, null, /as soon as the node has it/],
  ['has no node', {}, { ...soon, hasNode: false }, null, /no node in the settings/],
])('says when and why the node is asked next: it %s', (name, cursor, scene, afterMs, reason) => {
  const plan = scanPlan({ ...CURSOR, ...cursor }, { ...SCENE, ...scene })
  expect(plan.nextLookAt).toBe(afterMs === null ? null : NOW + afterMs)
  expect(plan.reason).toMatch(reason)
  expect(plan.isResting).toBe(name === 'rests')
})

it('names what is open, most first, and the looks at other addresses', () => {
  const { open, nextLooks, source } = scanPlan(CURSOR, { ...SCENE, ...soon })
  expect(open).toEqual([
    { asset: 'usdc_base', methods: 2 },
    { asset: 'eth_base', methods: 1 },
  ])
  expect(nextLooks).toEqual({
    ...{ endedAt: look.at + HOUR_MS, endedHeight: look.height },
    ...{ allAt: look.at + 24 * HOUR_MS, allHeight: look.height },
  })
  expect(source).toBe('thrifty')
  // A cursor of an older release says nothing about its source: it reads every block.
  const { source: _, looks: _looks, ...older } = CURSOR
  expect(scanPlan(older, SCENE)).toMatchObject({ source: 'full', nextLooks: null, isResting: false })
})
