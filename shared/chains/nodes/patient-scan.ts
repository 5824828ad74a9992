import type { ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import { BlockUnreadable, NodeUnreliable } from '#shared/ports/scanning.ts'
import { isLasting } from './in-block.ts'
import { NodeLag } from './node-roster.ts'

/** A batch that fails without naming a block is reduced to this share. */
const CUT = 4
/** Failures of one block after which it is read in another way. */
const PATIENCE = 2

/** How the blocks of a network are read. */
export interface ScanWays {
  /** Blocks `from`…`to` as usual, from the first node that returns them. */
  scan(from: number, to: number): Promise<readonly ScannedBlock[]>
  /** One block in another way; absent where there is none. Heights from `from` up to it have no block. */
  scanAlone?(height: number, from: number): Promise<ScannedBlock>
}

/**
 * Reads batches so that one unreadable block does not hold up the others. After a failure that names a block, the next batch
 * ends before it; after one that names none, the next batches are smaller until one block is left. The block itself is then
 * read alone: at once when a repetition would not help, otherwise after its second failure. Throws the failure, and
 * `BlockUnreadable` when reading the block alone fails as well; the usual way is tried again after that.
 */
export function createPatientScan(): (ways: ScanWays, from: number, to: number) => Promise<readonly ScannedBlock[]> {
  let size = Number.POSITIVE_INFINITY
  let failing: { readonly height: number; readonly failures: number } | null = null

  function noteFailure(error: NodeUnreliable, from: number, end: number): void {
    if (!(error instanceof BlockUnreadable)) {
      size = Math.max(1, Math.floor((end - from + 1) / CUT))
      return
    }
    const { height } = error.block
    size = Math.max(1, height - from)
    const failures = isLasting(error) ? PATIENCE : 1
    failing = { height, failures: failures + (failing?.height === height ? failing.failures : 0) }
  }

  /** The block that has failed often enough, if it is the next one: where heights have gaps, it may lie after the batch. */
  function nextAlone(from: number, end: number): number | null {
    if (failing === null || failing.failures < PATIENCE) return null
    const { height } = failing
    return height === from || height > end ? height : null
  }

  return async function read(ways, from, to) {
    const end = Math.min(to, from + size - 1)
    let alone = failing?.height === from ? nextAlone(from, end) : null
    try {
      if (alone === null || ways.scanAlone === undefined) {
        const blocks = await ways.scan(from, end)
        size *= CUT
        return blocks
      }
    } catch (error) {
      // That the nodes do not have a block yet is not its fault.
      if (!(error instanceof NodeUnreliable) || error instanceof NodeLag) throw error
      noteFailure(error, from, end)
      alone = error instanceof BlockUnreadable ? nextAlone(from, end) : null
      if (alone === null || ways.scanAlone === undefined) throw error
    }
    failing = null
    return [await ways.scanAlone(alone, from)]
  }
}
