export type { ChainCommand } from '#shared/db/scanning/chain-command-model.ts'

/** Requests that an operator can make to a scanner. */
export const CHAIN_COMMAND_KINDS = ['rescan', 'rewind', 'resume', 'skip'] as const
export type ChainCommandKind = (typeof CHAIN_COMMAND_KINDS)[number]
