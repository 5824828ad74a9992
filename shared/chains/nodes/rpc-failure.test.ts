import { expect, it } from 'vitest'
import { BlockUnreadable } from '#shared/ports/scanning.ts'
import { type FailureKind, failureOfStatus, RpcFailure } from './rpc-failure.ts'

const GONE: Readonly<Record<FailureKind, boolean>> = {
  rate: false,
  retry: false,
  late: false,
  unclear: false,
  split: false,
  refused: false,
  pruned: true,
}
const gone = (kind: FailureKind) =>
  new BlockUnreadable(
    { height: 7, hash: null, method: 'getblock', reason: 'it failed' },
    new RpcFailure(kind, 'it failed'),
  ).isGone

// Guarantee: a block counts as dropped only when a node says so; what a node refuses is unknown.
it('a block is gone only when the node has dropped it', () => {
  const kinds = Object.keys(GONE) as FailureKind[]
  expect(Object.fromEntries(kinds.map((kind) => [kind, gone(kind)]))).toEqual(GONE)
})

it.each([400, 401, 402, 403, 404, 405, 408, 410, 413, 429, 500, 501, 502, 503, 504])(
  'status %i of a provider says nothing about a block',
  (status) => expect(gone(failureOfStatus(status))).toBe(false),
)
