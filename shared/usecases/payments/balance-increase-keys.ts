import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'

/** One network in one mode. */
export interface Position {
  readonly mode: Mode
  readonly network: NetworkId
}

/** What the transfer keys of all payments to one account begin with that its balance told of. */
export function riseKeyPrefix({ mode, network }: Position, matchKey: string): string {
  return `${mode}:${network}:d:0x${matchKey}`
}

/** Transfer key of the `ordinal`th payment of one amount to one account that its balance told of. */
export function riseKey(position: Position, matchKey: string, amountBase: bigint, ordinal: number): string {
  return `${riseKeyPrefix(position, matchKey)}:${amountBase}:${ordinal}`
}
