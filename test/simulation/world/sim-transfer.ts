import type { AssetId } from '#shared/domain/enumerations.ts'

/** One output or token transfer of a transaction. */
export interface SimTransfer {
  readonly key: string
  readonly matchKey: string
  readonly toAddress: string
  readonly asset: AssetId | null
  readonly contract: string | null
  readonly amountBase: bigint
  readonly outputIndex: number | null
}

/** Who is paid how much, in one transaction. */
export interface Payout {
  readonly address: string
  readonly matchKey: string
  readonly asset: AssetId | null
  readonly amountBase: bigint
}
