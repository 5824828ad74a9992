import type { AssetId, Family, Mode, NetworkId } from '#shared/domain/enumerations.ts'

/** The claim on a whole address: while it is valid, all money on the address is the holder's. */
export function addressClaim(mode: Mode, family: Family, matchKey: string): string {
  return `${mode}:${family}:${matchKey}`
}

/** The claim on one exact amount of one asset on an address that many invoices share. */
export function amountClaim(
  mode: Mode,
  network: NetworkId,
  matchKey: string,
  asset: AssetId,
  amountBase: bigint,
): string {
  return `${mode}:${network}:${matchKey}:${asset}:${amountBase}`
}
