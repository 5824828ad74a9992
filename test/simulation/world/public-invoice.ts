import type { AssetId } from '#shared/domain/enumerations.ts'

/** The part of a public invoice that actors read. */
export interface PublicInvoice {
  readonly id: string
  readonly status: string
  readonly expires_at: string
  readonly amount: { readonly minor: number }
  readonly crypto: {
    readonly asset: AssetId
    readonly address: string
    readonly amount_base_units: string
  } | null
}
