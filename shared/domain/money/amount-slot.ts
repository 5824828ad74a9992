/** Additions to a price that identify invoices: 1 … this many steps. */
export const SLOTS_MAX = 9_999n
/** Decimals that exchanges and wallets let a person send; finer digits are cut off. */
const SENDABLE_DECIMALS = 8

/**
 * The unique amount of a price for a `slot`: the price plus `slot` steps. A step is one base unit,
 * or 10⁻⁸ of the asset where base units are finer than that. Different slots of one price always differ by at least a step.
 * Throws RangeError outside 1 … 9,999.
 */
export function slotAmount(priceBase: bigint, decimals: number, slot: bigint): bigint {
  if (slot < 1n || slot > SLOTS_MAX) throw new RangeError(`no slot ${slot}`)
  return priceBase + slot * (decimals > SENDABLE_DECIMALS ? 10n ** BigInt(decimals - SENDABLE_DECIMALS) : 1n)
}
