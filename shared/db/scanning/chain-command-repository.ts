import type { AuditRecord } from '#shared/db/audit/audit-model.ts'
import { audited, insertAudited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { duplicateKeyFields } from '#shared/db/connection/duplicate-key.ts'
import { NEWEST } from '#shared/db/connection/newest.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { NetworkId } from '#shared/domain/networks.ts'
import { CHAIN_COMMANDS, type ChainCommand } from './chain-command-model.ts'

/** Requests to scanners on MongoDB. Opening and closing are stored together with their audit row. */
export function createChainCommandRepository(db: Database) {
  const commands = db.collection(CHAIN_COMMANDS)
  const open = { status: 'open' as const }
  const list = async (...which: Parameters<typeof commands.find>): Promise<readonly ChainCommand[]> =>
    (
      await commands
        .find(...which)
        .sort({ requestedAt: 1 })
        .toArray()
    ).map(CHAIN_COMMANDS.toRecord)
  return {
    /** Stores the request and its audit row together, unless one of its kind is open on the network: then that one is returned. */
    request: async (command: ChainCommand, audit: AuditRecord): Promise<ChainCommand> => {
      try {
        await insertAudited(db, audit, (within) => commands.insertOne(CHAIN_COMMANDS.toDocument(command), within))
        return command
      } catch (error) {
        if (duplicateKeyFields(error) === null) throw error
        const { mode, network, kind } = command
        const standing = await commands.findOne({ mode, network, kind, ...open }, NEWEST)
        if (standing === null)
          throw new Error(`a ${kind} of ${network} ended just now: request it again`, { cause: error })
        return CHAIN_COMMANDS.toRecord(standing)
      }
    },
    findById: async (id: string): Promise<ChainCommand | null> =>
      CHAIN_COMMANDS.toRecord(await commands.findOne({ _id: id })),
    /** Open requests of a network, oldest first. */
    listOpen: (mode: Mode, network: NetworkId): Promise<readonly ChainCommand[]> => list({ mode, network, ...open }),
    /** Open requests of all networks, oldest first. */
    listAllOpen: (): Promise<readonly ChainCommand[]> => list(open, { hint: 'command_open' }),
    /** Advances a rescan, by compare-and-set on `nextHeight`; false when another process advanced or closed it. */
    progress: async (
      { id, nextHeight }: ChainCommand,
      next: Pick<ChainCommand, 'nextHeight' | 'changed'>,
    ): Promise<boolean> => {
      const moved = await commands.updateOne({ _id: id, ...open, nextHeight }, { $set: { ...next } })
      return moved.matchedCount === 1
    },
    /** Marks an open request as about to run; false when it is not open any more. Repeating it is harmless. */
    take: async (id: string): Promise<boolean> =>
      (await commands.updateOne({ _id: id, ...open }, { $set: { taken: true } })).matchedCount === 1,
    /** Closes a request that is open and not taken, together with its audit row; false when it is not. */
    cancel: (id: string, { outcome, at }: { outcome: string; at: Ms }, audit: AuditRecord): Promise<boolean> =>
      audited(db, audit, async (session) => {
        const free = { _id: id, ...open, taken: { $ne: true } }
        const change = { $set: { status: 'cancelled' as const, outcome, finishedAt: toDate(at) } }
        return (await commands.updateOne(free, change, { session })).matchedCount === 1
      }),
    /** Closes an open request together with its audit row; false when it was closed already. */
    finish: (
      id: string,
      { status, outcome, at }: { status: 'done' | 'refused'; outcome: string; at: Ms },
      audit: AuditRecord,
    ): Promise<boolean> =>
      audited(db, audit, async (session) => {
        const change = { $set: { status, outcome, finishedAt: toDate(at) } }
        return (await commands.updateOne({ _id: id, ...open }, change, { session })).matchedCount === 1
      }),
  }
}
