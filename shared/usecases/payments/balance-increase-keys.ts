import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'

/** One network in one mode. */
export interface Position {
  readonly mode: Mode
  readonly network: NetworkId
}

/** Prefix of the transfer keys of all payments to one account that were detected from its balance. */
export function increaseKeyPrefix({ mode, network }: Position, matchKey: string): string {
  return `${mode}:${network}:d:0x${matchKey}`
}

/** Transfer key of the `ordinal`th payment of one amount to one account that was detected from its balance. */
export function increaseKey(position: Position, matchKey: string, amountBase: bigint, ordinal: number): string {
  return `${increaseKeyPrefix(position, matchKey)}:${amountBase}:${ordinal}`
}
