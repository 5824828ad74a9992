export type { ChainCommand } from '#shared/db/scanning/chain-command-model.ts'
