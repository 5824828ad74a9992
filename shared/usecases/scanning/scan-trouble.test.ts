import { expect, it } from 'vitest'
import { BlockUnreadable, NodeMismatch, NodeUnreliable } from '#shared/ports/scanning.ts'
import { LeaseLost } from './scan-session.ts'
import { scanFailure, troubleFacts } from './scan-trouble.ts'

it('takes block, method and cause from a block that no way could read', () => {
  const block = { height: 140, hash: '0x8c', method: 'trace_block', reason: 'an answer of 80 MB at a.example.' }
  expect(troubleFacts(new BlockUnreadable(block), 101)).toEqual({
    ...{ height: 140, hash: '0x8c', method: 'trace_block', reason: 'an answer of 80 MB at a.example', host: null },
  })
})

it('blames the next block where an error names none', () => {
  expect(troubleFacts(new NodeUnreliable('logs were left out'), 101)).toEqual({
    ...{ height: 101, hash: null, method: null, reason: 'logs were left out', host: null },
  })
})

// Guarantee: no credential of a node's URL and no control character reaches a page, a mail or a terminal.
it.each([
  ['see https://user:hush@node.example:8545/v3/hush?key=hush now', 'Error: see node.example:8545 now'],
  ['red \u001b[31mtext\u0007\n\n\u202eand lines', 'Error: red [31mtext and lines'],
  ['', 'Error:'],
  ['x'.repeat(5_000), `Error: ${'x'.repeat(293)}`],
])('keeps of %j what may be shown', (message, shown) => {
  expect(troubleFacts(new Error(message), 1).reason).toBe(shown)
})

it('tells a lost lease from a failure', () => {
  const kinds = [new LeaseLost('x'), new NodeMismatch('x'), new NodeUnreliable('x'), new TypeError('x'), 'x']
  expect(kinds.map(scanFailure)).toEqual(['lease', 'mismatch', 'node', 'other', 'other'])
})

it('tells a dead node from an unreadable block', () => {
  const dead = Object.assign(new NodeUnreliable('eth_call at node.example: refused the connection'), { isSilent: true })
  const block = { height: 7, hash: null, method: 'trace_block', reason: 'no response within 12 s' }
  expect([dead, new BlockUnreadable(block, dead)].map(scanFailure)).toEqual(['silent', 'node'])
})
