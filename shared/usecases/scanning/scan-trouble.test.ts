import { expect, it } from 'vitest'
import { worstOf } from '#shared/chains/nodes/node-roster.ts'
import { RpcFailure } from '#shared/chains/nodes/rpc-failure.ts'
import { BlockUnreadable, NodeMismatch, NodeUnreliable } from '#shared/ports/scanning.ts'
import { LeaseLost, type ScanSession } from './scan-session.ts'
import { createTroubleRecord, scanFailure, troubleFacts } from './scan-trouble.ts'

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
  ['', 'Error'],
  ['x'.repeat(5_000), `Error: ${'x'.repeat(293)}`],
])('keeps of %j what may be shown', (message, shown) => {
  expect(troubleFacts(new Error(message), 1).reason).toBe(shown)
})

it('tells a lost lease from a failure', () => {
  const kinds = [new LeaseLost('x'), new NodeMismatch('x'), new NodeUnreliable('x'), new TypeError('x'), 'x']
  expect(kinds.map(scanFailure)).toEqual(['lease', 'mismatch', 'node', 'other', 'other'])
})

// Guarantee: a scanner that was suspended while its node fails begins again, so that operators see why it fails. Found by the simulation.
it('ends a session whose lease was lost, although its node fails first', async () => {
  const cursor = { mode: 'test', network: 'ethereum', height: 7, trouble: null }
  const deps = { clock: { now: () => 1 }, logger: { warn: () => undefined } }
  const session = { cursor, deps, lease: { isHeld: () => false } } as unknown as ScanSession
  const failing = createTroubleRecord().during(session, () => Promise.reject(new NodeUnreliable('pruned data')))
  await expect(failing).rejects.toThrow(LeaseLost)
})

it('tells a dead node from an unreadable block', () => {
  const dead = Object.assign(new NodeUnreliable('eth_call at node.example: refused the connection'), { isSilent: true })
  const block = { height: 7, hash: null, method: 'trace_block', reason: 'no response within 12 s' }
  expect([dead, new BlockUnreadable(block, dead)].map(scanFailure)).toEqual(['silent', 'node'])
})

const call = { method: 'eth_getLogs', host: 'node:8545' }
const away = new RpcFailure('retry', 'eth_getLogs at node:8545: refused the connection', {
  call,
  isSilent: true,
  isAway: true,
})
const cut = new RpcFailure('retry', 'eth_getLogs at node:8545: closed the connection', { call, isSilent: true })
const inBlock = (cause: RpcFailure) =>
  new BlockUnreadable({ height: 904, hash: null, method: 'eth_getLogs', reason: cause.message }, cause)

it.each([
  ['goes away between blocks', away, 'silent'],
  ['goes away over a block', inBlock(away), 'silent'],
  ['ends the connection between blocks', cut, 'silent'],
  // Proxies do so over an answer that is too large.
  ['ends the connection over a block', inBlock(cut), 'node'],
])('a node that %s is %s', (_what, error, kind) => {
  expect(scanFailure(error)).toBe(kind)
  expect(troubleFacts(error, 904)).toMatchObject({
    height: 904,
    method: 'eth_getLogs',
    host: 'node:8545',
    reason: expect.stringContaining('connection'),
  })
})

it('reports the node that could not read a block before one that is away', () => {
  expect(worstOf([inBlock(cut), inBlock(away), away])).toMatchObject({ isAway: false })
})
