import type { Refund } from '#shared/db/refunds/refund-model.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Payment } from './payments.ts'

export type { Refund } from '#shared/db/refunds/refund-model.ts'

/** What a new refund is checked against, as of the transaction that stores it. */
export interface RefundClaims {
  /** The invoice's confirmed payments, counted or not, in every asset. */
  readonly payments: readonly Pick<Payment, 'asset' | 'state' | 'amountBase'>[]
  /** The invoice's other refunds. */
  readonly refunds: readonly Refund[]
}

/** Reads addresses of every family, entered by anyone. */
export interface AddressReader {
  /**
   * An address in canonical spelling, and its match key. Throws `PaymeshError('VALIDATION_ERROR')` with path `address`
   * and a text that names the problem without repeating the input, which may be a private key.
   */
  read(network: NetworkId, mode: Mode, text: string): { readonly address: string; readonly matchKey: string }
}
