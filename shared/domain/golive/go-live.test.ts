import { expect, it } from 'vitest'
import { type GoLiveStatement, isOutOfDate, STATEMENT_LIFE_MS, type StatementKind } from './go-live.ts'

const NOW = 1_800_000_000_000
const stated = (change: Partial<GoLiveStatement>): GoLiveStatement => ({
  ...{ item: 'mail', at: NOW, by: 'test', evidence: 'a', holds: true, ref: null },
  ...change,
})

// Every kind × what happened to the statement.
const AFTER: readonly [string, (life: number) => GoLiveStatement, boolean][] = [
  ['a statement', () => stated({}), false],
  ['an address that differs', () => stated({ holds: false }), false],
  ['the last moment of its life', (life) => stated({ at: NOW - life }), false],
  ['its life', (life) => stated({ at: NOW - life - 1 }), true],
  ['a change of what it depends on', () => stated({ evidence: 'b' }), true],
  ['a clock that is a minute behind', () => stated({ at: NOW + 60_000 }), false],
  ['a statement dated tomorrow', () => stated({ at: NOW + 86_400_000 }), true],
]
const KINDS = Object.keys(STATEMENT_LIFE_MS) as StatementKind[]
it.each(KINDS.flatMap((kind) => AFTER.map(([what, statement, isOld]) => [kind, what, statement, isOld] as const)))(
  '%s after %s',
  (kind, _what, statement, isOld) => {
    expect(isOutOfDate(kind, statement(STATEMENT_LIFE_MS[kind]), 'a', NOW)).toBe(isOld)
  },
)
