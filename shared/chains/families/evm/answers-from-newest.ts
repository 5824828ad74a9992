import { ignoreUnclear } from '../../nodes/ignore-unclear.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { readHeader, toQuantity } from './rpc.ts'
import { bytesSchema } from './wire.ts'

/** The contract that stores the hashes of so many earlier blocks, each from the state of the next block on (EIP-2935). */
const HISTORY = '0x0000f90827f1c53a10cb7a02335b175320002935'
const HISTORY_BLOCKS = 8_191
/** The same on Arbitrum, by its own heights, since ArbOS 40 (OffchainLabs/sys-asm, `execution_hash/main.eas`; nitro, `arbosstate.go`; read 2026-11-30). */
const ARBITRUM_BLOCKS = 393_168
/** How long what a node showed counts, milliseconds, … */
const KNOWN_MS = 3_600_000
/** … and how long it is not asked again after it showed nothing. */
const UNKNOWN_MS = 600_000

const known = new WeakMap<RpcNode, { readonly isSo: boolean; readonly until: number }>()

/**
 * Whether a node answers about the state of this block from that of a newer one, under the header that was asked for: seen of a node that keeps one
 * state alone (lambdaclass/ethrex#7071). Two such answers are alike, and would show that nothing came in between. Proven by the hash of a block in
 * its own state; false where the network has no such contract, or the node does not say.
 */
export async function answersFromNewest(node: RpcNode, height: number, numbersAreParents: boolean): Promise<boolean> {
  if (height > 1 && performance.now() >= (known.get(node)?.until ?? Number.NEGATIVE_INFINITY)) {
    const isSo = await holdsOwnHash(node, height - 1, numbersAreParents ? ARBITRUM_BLOCKS : HISTORY_BLOCKS)
    known.set(node, { isSo: isSo === true, until: performance.now() + (isSo === null ? UNKNOWN_MS : KNOWN_MS) })
  }
  if (known.get(node)?.isSo !== true) return false
  return ((await readHeader(node, 'latest'))?.number ?? 0) > height
}

/** Null where the node does not say. A later block of it is known. */
async function holdsOwnHash(node: RpcNode, height: number, blocks: number): Promise<boolean | null> {
  const header = await ignoreUnclear(readHeader(node, height))
  if (header === null) return null
  const slot = toQuantity(height % blocks)
  const stored = await ignoreUnclear(node.call('eth_getStorageAt', [HISTORY, slot, toQuantity(height)], bytesSchema))
  return stored === null ? null : stored === header.hash
}
