import { describe, expect, it } from 'vitest'
import { callMoveStem, hasFormerKey, placeFormerKeys, stemOf } from './call-move-keys.ts'

const TX = `test:tron:${'cd'.repeat(32)}`
type Row = Parameters<typeof placeFormerKeys>[0][number]
const row = (part: string, change: Partial<Row> = {}): Row => ({
  key: `${TX}:${part}`,
  fromAddress: 'TPayer',
  toAddress: 'TPayee',
  amountBase: 5n,
  state: 'detected',
  ...change,
})
const current = (ordinal: number) => `${TX}:i:TPayer:TPayee:5:${ordinal}`
const places = (...rows: Row[]) =>
  Object.fromEntries([...placeFormerKeys(rows)].map(([key, place]) => [key.slice(TX.length + 1), place]))

describe('current keys of payments that are stored under former ones', () => {
  it('number equal moves of one transaction in order, and each kind of move for itself', () => {
    expect(places(row('x10'), row('x2'), row('x3', { amountBase: 6n }), row('x4', { fromAddress: null }))).toEqual({
      x2: current(0),
      x10: current(1),
      x3: `${TX}:i:TPayer:TPayee:6:0`,
      x4: `${TX}:i:-:TPayee:5:0`,
    })
  })

  // Guards money: a place that was given once never goes to another payment.
  it('keep what was given, and take only free numbers', () => {
    expect(places(row('x0'), row('x1', { currentKey: current(0) }), row('i:TPayer:TPayee:5:1'))).toEqual({
      x1: current(0),
      x0: current(2),
    })
  })

  it('come to live payments first: one that is gone is no rival of one that stands', () => {
    const gone = row('x0', { state: 'orphaned' })
    expect(places(gone, row('x1'), row('x2', { state: 'confirmed' }))).toEqual({
      x2: current(0),
      x1: current(1),
      x0: current(2),
    })
  })

  it('are those of no other kind of transfer', () => {
    expect(places(row('c0'), row('l3'), row('i:TPayer:TPayee:5:0'))).toEqual({})
    expect(hasFormerKey(row('x0:7'))).toBe(true)
    expect(hasFormerKey({ key: 'test:bitcoin:ab:0' })).toBe(false)
  })

  it('begin with what all equal moves have in common', () => {
    expect(stemOf(current(3))).toBe(callMoveStem(TX, row('x0')))
  })
})
