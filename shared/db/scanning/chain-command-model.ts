import { z } from 'zod'
import { CHAIN_COMMAND_KINDS } from '#shared/contracts/chain-commands.ts'
import { defineCollection, type RecordOf } from '#shared/db/connection/collection-model.ts'
import { TIME, textAs } from '#shared/db/connection/stored-fields.ts'
import { MODES, type NetworkId } from '#shared/domain/enumerations.ts'

const TWO_YEARS_S = 730 * 86_400

/** The chain_commands collection; finished ones are kept two years. The unique index allows one open request of a kind for each network and mode. */
export const CHAIN_COMMANDS = defineCollection(
  'chain_commands',
  {
    _id: z.string(),
    mode: z.enum(MODES),
    network: textAs<NetworkId>(),
    kind: z.enum(CHAIN_COMMAND_KINDS),
    /** First block of a rescan; null for the other kinds. */
    from: z.number().nullable(),
    /** Last block of a rescan, target of a rewind, last block that a skip may skip; null for `resume`, and for a skip without such a bound. */
    to: z.number().nullable(),
    /** The person accepts that the chain changed below finality. */
    acceptReorg: z.boolean(),
    /** Rescan: next block to read; everything below it is stored. */
    nextHeight: z.number().nullable(),
    /** Rescan: payments found again or changed so far. */
    changed: z.number(),
    status: z.enum(['open', 'done', 'refused', 'cancelled']),
    /** A scanner is about to move its cursor for it: it can no longer be cancelled. */
    taken: z.boolean().exactOptional(),
    /** One sentence about its result; null while open. */
    outcome: z.string().nullable(),
    requestedBy: z.string(),
    requestedAt: TIME,
    finishedAt: TIME.nullable(),
  },
  [
    {
      name: 'command_open',
      key: { mode: 1, network: 1, kind: 1 },
      unique: true,
      partialFilterExpression: { status: 'open' },
    },
    { name: 'command_life', key: { finishedAt: 1 }, expireAfterSeconds: TWO_YEARS_S },
  ],
)

/** One request to the scanner of a network. The holder of the lease runs it; it is kept for the audit. */
export type ChainCommand = RecordOf<typeof CHAIN_COMMANDS>
