import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { ChainState, TronChain } from './tron-chain.ts'

/** Time between two writes while only empty blocks arrive, milliseconds: the loss after a kill. */
const WRITE_INTERVAL_MS = 5_000

const text = z.string()
const transaction = z.object({
  body: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('transfer'), owner: text, to: text, amount: text }),
    z.object({ kind: z.literal('call'), owner: text, contract: text, data: text }),
  ]),
  outcome: z.object({
    result: z.enum(['SUCCESS', 'REVERT', 'OUT_OF_ENERGY']),
    logs: z.array(z.object({ address: text, topics: z.array(text), data: text })),
    internals: z.array(
      z.object({
        from: text,
        to: text,
        amount: text,
        note: text,
        tokenId: text.exactOptional(),
        rejected: z.boolean().exactOptional(),
      }),
    ),
  }),
  timestamp: z.int(),
  refBlockBytes: text,
  refBlockHash: text,
  expiration: z.int().exactOptional(),
  signature: text.exactOptional(),
})
const stateSchema: z.ZodType<ChainState> = z.object({
  createdAt: z.int(),
  blocks: z.array(z.object({ time: z.int(), branch: z.int(), transactions: z.array(transaction) })),
  pending: z.array(transaction),
  branch: z.int(),
  solidHeight: z.int(),
})

/** The file that stores a chain over restarts. */
export interface StateFile {
  /** The chain of the last run; null when there is none. */
  readonly kept: ChainState | null
  /** Writes now. */
  save(chain: TronChain): void
  /** Called with every block: writes when necessary. */
  note(chain: TronChain): void
}

/** Opens `state.json` of a folder, which is created; null keeps nothing. An unreadable file is moved aside and reported. */
export function openStateFile(folder: string | null, report: (line: string) => void = () => {}): StateFile {
  if (folder === null) return { kept: null, save: () => {}, note: () => {} }
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'state.json')
  let writtenAt = 0
  const save = (chain: TronChain) => {
    // Renaming is atomic: a kill leaves the old state or the new one.
    writeFileSync(`${path}.new`, JSON.stringify(chain.state()))
    renameSync(`${path}.new`, path)
    writtenAt = Date.now()
  }
  return {
    kept: read(path, report),
    save,
    note(chain) {
      if (chain.head().transactions.length > 0 || Date.now() - writtenAt >= WRITE_INTERVAL_MS) save(chain)
    },
  }
}

function read(path: string, report: (line: string) => void): ChainState | null {
  if (!existsSync(path)) return null
  try {
    return stateSchema.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    renameSync(path, `${path}.unusable`)
    report(`the TRON chain's state could not be read: it starts again (old file: ${path}.unusable)`)
    return null
  }
}
