import { COUNT, DATE, defineCollection, optional, TEXT } from '#shared/db/connection/collection-model.ts'
import type { ChainCommand } from '#shared/ports/chain-commands.ts'
import { CHAIN_COMMAND_KINDS } from '#shared/ports/chain-commands.ts'

/** A stored request to a scanner. */
export type ChainCommandDocument = Omit<ChainCommand, 'id' | 'askedAt' | 'finishedAt'> & {
  _id: string
  askedAt: Date
  finishedAt: Date | null
}

const TWO_YEARS_S = 730 * 86_400

/** The chain_commands collection; finished ones are kept two years. The unique index allows one open request of a kind for each network and mode. */
export const CHAIN_COMMANDS = defineCollection<ChainCommandDocument>(
  'chain_commands',
  {
    _id: TEXT,
    mode: TEXT,
    network: TEXT,
    kind: { type: String, enum: CHAIN_COMMAND_KINDS, required: true },
    from: optional(Number),
    to: optional(Number),
    acceptReorg: Boolean,
    nextHeight: optional(Number),
    changed: COUNT,
    status: { type: String, enum: ['open', 'done', 'refused', 'cancelled'], required: true },
    taken: optional(Boolean),
    outcome: optional(String),
    askedBy: TEXT,
    askedAt: DATE,
    finishedAt: optional(Date),
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
