import { describe, expect, it } from 'vitest'
import type { TronNode } from './api.ts'
import type { SuccessfulTransaction } from './check-block.ts'
import { createInternalRecord } from './internal-record.ts'

const nodeOf = (host: string) => ({ host }) as TronNode
const call = (inside: number) =>
  ({
    contracts: [{ type: 'TriggerSmartContract' }],
    info: { internal_transactions: Array.from({ length: inside }, () => ({})) },
  }) as unknown as SuccessfulTransaction
const transfer = { contracts: [{ type: 'TransferContract' }], info: { internal_transactions: [] } }
const calls = (count: number) => Array.from({ length: count }, () => call(0))

function open() {
  const recorded: number[] = []
  const metrics = { count: () => {}, gauge: (_name: string, value: number) => recorded.push(value), observe: () => {} }
  const clock = { time: 0 }
  return { recorded, clock, record: createInternalRecord(metrics, {}, () => clock.time) }
}

describe('whether a node records calls inside of calls', () => {
  it('is not said before anything shows it', () => {
    const { recorded, record } = open()
    const a = nodeOf('a')
    record.note(a, [...calls(999), transfer as unknown as SuccessfulTransaction])
    expect(recorded).toEqual([])
    record.check(a)
  })

  // Guarantee: coins from contracts that nobody can see are not silently missing: the metric says so.
  it('is told as 0 after a thousand calls without one, and as 1 with the first', () => {
    const { recorded, record } = open()
    const a = nodeOf('a')
    record.note(a, calls(1_000))
    record.check(a)
    record.note(a, [call(1)])
    expect(recorded).toEqual([0, 1])
  })

  it('decides who may replace a node that does', () => {
    const { record } = open()
    const [a, b] = [nodeOf('a'), nodeOf('b')]
    record.note(a, [call(2)])
    record.check(b)
    record.note(b, calls(1_000))
    expect(() => record.check(b)).toThrow('b records no internal transactions')
    record.check(a)
  })

  // Guarantee: nothing about a node is held against it for good: its setting may have been changed.
  it('is found out again an hour after a node was left out', () => {
    const { record, clock } = open()
    const [a, b] = [nodeOf('a'), nodeOf('b')]
    record.note(a, [call(2)])
    record.note(b, calls(1_000))
    expect(() => record.check(b)).toThrow()
    clock.time = 3_600_000
    record.check(b)
    record.note(b, calls(1_000))
    expect(() => record.check(b)).toThrow()
  })
})
