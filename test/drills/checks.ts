/** One promise of an upgrade: what was looked at, and what breaks it. */
export interface Check {
  readonly promise: string
  /** How much was looked at; a check of nothing has failed. */
  readonly checked: number
  /** Empty when the promise was kept. */
  readonly faults: readonly string[]
}

const SHOWN = 20

export const isKept = ({ checked, faults }: Check): boolean => checked > 0 && faults.length === 0

/** A line for each check, and below it what breaks it. */
export function describeCheck(check: Check): string {
  const { promise, checked, faults } = check
  const shown = checked === 0 ? ['nothing was checked', ...faults] : faults
  const lines = shown.slice(0, SHOWN).map((fault) => `    ${fault}`)
  const more = shown.length > SHOWN ? [`    … and ${shown.length - SHOWN} more`] : []
  return [`${isKept(check) ? 'ok    ' : 'FAILED'}  ${promise} (${checked} checked)`, ...lines, ...more].join('\n')
}
