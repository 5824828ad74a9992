import type { ChainCommand } from '#shared/db/scanning/chain-command-model.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from './audit.ts'

export type { ChainCommand } from '#shared/db/scanning/chain-command-model.ts'

/** Requests that an operator can make to a scanner. */
export const CHAIN_COMMAND_KINDS = ['rescan', 'rewind', 'resume'] as const
export type ChainCommandKind = (typeof CHAIN_COMMAND_KINDS)[number]

export interface ChainCommandRepository {
  /** Stores the request and its audit row together, unless one of its kind is open on the network: then that one is returned. */
  ask(command: ChainCommand, audit: AuditRecord): Promise<ChainCommand>
  findById(id: string): Promise<ChainCommand | null>
  /** Open requests of a network, oldest first. */
  listOpen(mode: Mode, network: NetworkId): Promise<readonly ChainCommand[]>
  /** Open requests of all networks, oldest first. */
  listAllOpen(): Promise<readonly ChainCommand[]>
  /** Advances a rescan, by compare-and-set on `nextHeight`; false when another process advanced or closed it. */
  progress(command: ChainCommand, next: Pick<ChainCommand, 'nextHeight' | 'changed'>): Promise<boolean>
  /** Marks an open request as about to run; false when it is not open any more. Repeating it is harmless. */
  take(id: string): Promise<boolean>
  /** Closes a request that is open and not taken, together with its audit row; false when it is not. */
  cancel(id: string, end: { outcome: string; at: Ms }, audit: AuditRecord): Promise<boolean>
  /** Closes an open request together with its audit row; false when it was closed already. */
  finish(id: string, end: { status: 'done' | 'refused'; outcome: string; at: Ms }, audit: AuditRecord): Promise<boolean>
}
