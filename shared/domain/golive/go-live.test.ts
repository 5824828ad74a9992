import { expect, it } from 'vitest'
import { GO_LIVE_KINDS, GO_LIVE_LIFE_MS, type GoLiveResult, type GoLiveState, goLiveState, kindOf } from './go-live.ts'

const NOW = 1_800_000_000_000
const result = (change: Partial<GoLiveResult>): GoLiveResult => ({
  ...{ item: 'nodes', outcome: 'passed', at: NOW, by: 'test', evidence: 'a', reason: null, about: '', ref: null },
  ...change,
})

// Every item × what happened to it.
const AFTER: readonly [string, (life: number) => GoLiveResult | null, GoLiveState][] = [
  ['nothing', () => null, 'open'],
  ['a try that is under way', () => result({ outcome: 'pending' }), 'open'],
  ['a pass', () => result({}), 'passed'],
  ['a failure', () => result({ outcome: 'failed' }), 'failed'],
  ['a pass on the last moment of its life', (life) => result({ at: NOW - life }), 'passed'],
  ['a pass whose life is over', (life) => result({ at: NOW - life - 1 }), 'out_of_date'],
  ['a failure whose life is over', (life) => result({ outcome: 'failed', at: NOW - life - 1 }), 'out_of_date'],
  ['a try whose life is over', (life) => result({ outcome: 'pending', at: NOW - life - 1 }), 'out_of_date'],
  ['a pass of something that has changed', () => result({ evidence: 'b' }), 'out_of_date'],
  ['a failure of something that has changed', () => result({ outcome: 'failed', evidence: 'b' }), 'out_of_date'],
  ['a try on something that has changed', () => result({ outcome: 'pending', evidence: 'b' }), 'out_of_date'],
  ['a pass dated tomorrow', () => result({ at: NOW + 86_400_000 }), 'out_of_date'],
]
it.each(GO_LIVE_KINDS.flatMap((kind) => AFTER.map(([what, stored, state]) => [kind, what, stored, state] as const)))(
  '%s after %s',
  (kind, _what, stored, state) => {
    expect(goLiveState(`${kind}:x`, stored(GO_LIVE_LIFE_MS[kind]), 'a', NOW)).toBe(state)
  },
)

it('knows items by their kind', () => {
  expect([kindOf('payment:ethereum'), kindOf('mail')]).toEqual(['payment', 'mail'])
  expect(() => kindOf('constructor')).toThrow(TypeError)
})
