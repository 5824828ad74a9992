import { BlockUnreadable, NodeUnreliable, type ScannedBlock } from '#shared/usecases/ports/scanning.ts'
import { isLasting } from './in-block.ts'

/** A batch that fails without naming a block is cut to this share. */
const CUT = 4
/** Failures of one block that may pass before it is read another way. */
const PATIENCE = 2

/** How the blocks of a network are read. */
export interface ScanWays {
  /** Blocks `from`…`to` as usual, from the first node that manages it. */
  scan(from: number, to: number): Promise<readonly ScannedBlock[]>
  /** One block by another way; absent where there is none. */
  scanAlone?(height: number): Promise<ScannedBlock>
}

/**
 * Reads batches so that one block that cannot be read holds up no other: a batch ends before the block that fails, a failure
 * that names none shrinks the next batches until one block is left, and that block is read alone, at once when a repetition
 * would not help, else after the second failure. Throws `BlockUnreadable` when that fails as well.
 */
export function createPatientScan(): (ways: ScanWays, from: number, to: number) => Promise<readonly ScannedBlock[]> {
  let size = Number.POSITIVE_INFINITY
  let failing = { height: -1, failures: 0 }

  function isDue(error: BlockUnreadable): boolean {
    const { height } = error.block
    failing = { height, failures: failing.height === height ? failing.failures + 1 : 1 }
    return isLasting(error) || failing.failures >= PATIENCE
  }

  return async function read(ways, from, to) {
    const end = Math.min(to, from + size - 1)
    try {
      const blocks = await ways.scan(from, end)
      size *= CUT
      return blocks
    } catch (error) {
      if (!(error instanceof NodeUnreliable)) throw error
      if (!(error instanceof BlockUnreadable)) {
        size = Math.max(1, Math.floor((end - from + 1) / CUT))
        throw error
      }
      const { height } = error.block
      size = Math.max(1, height - from)
      if (height > from) return read(ways, from, height - 1)
      if (ways.scanAlone === undefined || !isDue(error)) throw error
      return [await ways.scanAlone(from)]
    }
  }
}
