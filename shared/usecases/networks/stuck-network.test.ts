import { expect, it } from 'vitest'
import type { ChainCursor, ScanTrouble } from '#shared/ports/cursors.ts'
import { stuckNetwork, troubleSentence } from './stuck-network.ts'

const NOW = 100_000_000
const MINUTE = 60_000
const BLOCK_MS = 12_000
const LEASE = { owner: 'a', epoch: 1, until: NOW + 10_000 }

const cursor = (change: Partial<ChainCursor>): ChainCursor => ({
  ...{ id: 'live:ethereum', mode: 'live', network: 'ethereum', height: 100, hash: '0x64', time: NOW - 10_000 },
  ...{ window: [], headHeight: 100, headSeenAt: NOW - 2_000, finalizedHeight: null, status: 'live', haltReason: null },
  ...{ genesisHash: '0x0', lease: LEASE, advancedAt: NOW - 8_000, atHeadAt: NOW - 2_000 },
  ...change,
})

const trouble = (change: Partial<ScanTrouble> = {}): ScanTrouble => ({
  ...{ kind: 'node', height: 101, hash: null, method: 'trace_block', reason: 'too large', host: 'a.example' },
  ...{ firstAt: NOW - 2 * MINUTE, lastAt: NOW - 2_000, tries: 9 },
  ...change,
})

const ago = (minutes: number) => NOW - minutes * MINUTE
const stoppedAt = (minutes: number) => ({ advancedAt: ago(minutes), atHeadAt: ago(minutes), time: ago(minutes) })

it.each<[cause: string | null, what: string, Partial<ChainCursor>, hasNode?: boolean]>([
  [null, 'advances', {}],
  [
    null,
    'reads a backlog, however long',
    { time: ago(9_000), atHeadAt: ago(9_000), headHeight: 9_999, status: 'catchup' },
  ],
  [null, 'failed for less than a minute', { trouble: trouble({ firstAt: NOW - 59_000 }) }],
  [null, 'brought no block for two minutes', { ...stoppedAt(2) }],
  [null, 'is a quiet test chain', { ...stoppedAt(900), mode: 'test' }],
  [null, 'is a test network without a node', { mode: 'test', headSeenAt: ago(900), lease: null }, false],
  [null, 'changes its scanner', { lease: null }],
  [
    null,
    'rests below its head because it is thrifty',
    { ...stoppedAt(900), source: 'thrifty', headHeight: 9_999, headSeenAt: ago(9) },
  ],
  ['node_silent', 'is thrifty and got no answer for long', { source: 'thrifty', headSeenAt: ago(13) }],
  ['no_new_block', 'is thrifty and its node was behind', { source: 'thrifty', headTime: ago(20), headSeenAt: ago(1) }],
  ['block_unreadable', 'is thrifty and fails on a block', { source: 'thrifty', trouble: trouble() }],
  ['no_scanner', 'is thrifty and nobody scans', { source: 'thrifty', lease: null, headSeenAt: ago(11) }],
  ['halted', 'is halted', { status: 'halted', haltReason: 'forked' }],
  ['block_unreadable', 'fails on a block', { trouble: trouble() }],
  ['scan_failed', 'meets a fault of ours', { trouble: trouble({ kind: 'other' }) }],
  ['node_silent', 'has a dead node', { trouble: trouble({ kind: 'silent' }) }],
  ['node_refused', 'has a refused node', { trouble: trouble({ kind: 'mismatch' }), lease: null }],
  ['no_scanner', 'has no scanner', { lease: null, headSeenAt: ago(2), ...stoppedAt(2) }],
  ['no_scanner', 'lost its scanner', { lease: { ...LEASE, until: ago(2) }, headSeenAt: ago(2) }],
  [
    'no_scanner',
    'lost its scanner while it failed',
    { lease: null, headSeenAt: ago(5), trouble: trouble({ lastAt: ago(3) }) },
  ],
  ['node_silent', 'hears nothing from its node', { headSeenAt: ago(3) }],
  ['no_progress', 'stays behind the head without a failure', { headHeight: 120, ...stoppedAt(3) }],
  ['nodes_disagree', 'waits for nodes that agree', { headSeenAt: ago(3), waitReason: 'Two nodes, two blocks.' }],
  ['nodes_disagree', 'reads blocks, but cannot prove deadlines', { unproven: ago(5), waitReason: 'Deadlines wait.' }],
  [
    'blocks_skipped',
    'skipped blocks, and cannot prove deadlines',
    {
      ...{ unproven: ago(5), waitReason: 'Deadlines wait.' },
      skipped: { from: 1, to: 9, since: ago(9), until: ago(8), at: ago(7), by: 'cli' },
    },
  ],
  [null, 'proves deadlines', { unproven: ago(5) }],
  [null, 'cannot prove them for a minute', { unproven: ago(1), waitReason: 'Deadlines wait.' }],
  ['no_progress', 'never shows its whole mempool', { mempoolAt: ago(24 * 60) }],
  [null, 'showed its mempool a minute ago', { mempoolAt: ago(1) }],
  ['no_new_block', 'has a node that stopped syncing', { ...stoppedAt(4) }],
  ['no_node', 'has no node any more', {}, false],
])('says %s of a network that %s', (cause, _what, change, hasNode = true) => {
  expect(stuckNetwork(cursor(change), { now: NOW, hasNode, blockTimeMs: BLOCK_MS })?.cause ?? null).toBe(cause)
})

it('names block, method, cause and host, each once', () => {
  expect(troubleSentence(trouble())).toBe('Block 101 cannot be read (a.example): trace_block: too large.')
  expect(troubleSentence(trouble({ reason: 'trace_block at a.example: status 502' }))).toBe(
    'Block 101 cannot be read: trace_block at a.example: status 502.',
  )
  expect(troubleSentence(trouble({ kind: 'silent', reason: 'eth_chainId at a.example: refused the connection' }))).toBe(
    'The node does not respond: trace_block: eth_chainId at a.example: refused the connection.',
  )
  expect(troubleSentence(trouble({ kind: 'mismatch', method: null, host: null, reason: 'chain id 1' }))).toBe(
    'The node was rejected: chain id 1.',
  )
})
