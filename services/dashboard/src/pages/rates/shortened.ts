/** Prices have many digits; eight significant ones are enough to compare by eye. */
export function shortened(price: string): string {
  const digits = price.replace('.', '').replace(/^0+/, '').length
  return digits <= 8 || !price.includes('.')
    ? price
    : price.slice(0, Math.max(price.indexOf('.') + 3, price.length - (digits - 8)))
}
