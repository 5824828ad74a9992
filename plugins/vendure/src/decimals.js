/**
 * A whole number of smallest units as a decimal, `12.50` for 1250 and two places.
 * @param {bigint} units
 * @param {number} places
 */
export function toDecimal(units, places) {
  const digits = String(units).padStart(places + 1, '0')
  return places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`
}

/**
 * The smallest units of a decimal. Throws for one that has more places than these.
 * @param {string} decimal
 * @param {number} places
 */
export function toUnits(decimal, places) {
  const [whole = '', fraction = ''] = decimal.split('.')
  if (/[^0]/.test(fraction.slice(places))) throw new RangeError(`${decimal} has more than ${places} places`)
  return BigInt(whole + fraction.slice(0, places).padEnd(places, '0'))
}
