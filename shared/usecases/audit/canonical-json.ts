/**
 * JSON without spaces and with the names in every object in the order of their UTF-16 code units, so that equal values give equal
 * texts. Undefined members are left out, because JSON cannot express them.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([one], [other]) => (one < other ? -1 : 1)))
      : item,
  )
}
